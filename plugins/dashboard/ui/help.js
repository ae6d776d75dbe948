// The list of keyboard shortcuts behind `?`.

import { html, render } from "./dom.js";

/** Show all shortcuts in a dialog. */
export function help(bindings) {
  if (document.querySelector("dialog[open]")) return;
  const dialog = document.createElement("dialog");
  dialog.className = "help";
  dialog.setAttribute("aria-labelledby", "help-title");
  render(
    html`<h2 id="help-title">Keyboard</h2>
      <dl class="shortcuts">
        ${bindings.map(({ key, label }) => html`<div><dt><kbd>${key === "Escape" ? "Esc" : key}</kbd></dt><dd>${label}</dd></div>`)}
      </dl>
      <form method="dialog"><button class="button">Close</button></form>`,
    dialog,
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
