// Dialogs: a form, or a question, over the page. The browser keeps the focus inside and gives it back.

import { html, render } from "../dom.js";
import { form } from "./form.js";

let made = 0;

/** Show anything in a dialog; `view(close)` draws it. Resolves when it was closed. */
export function dialog(title, view, { wide = false } = {}) {
  const element = Object.assign(document.createElement("dialog"), { className: wide ? "dialog dialog-wide" : "dialog" });
  const id = `dialog-${++made}`;
  element.setAttribute("aria-labelledby", id);
  render(html`<h2 id=${id}>${title}</h2>${view(() => element.close())}`, element);
  document.body.append(element);
  element.showModal();
  return new Promise((resolve) => {
    element.addEventListener("close", () => {
      element.remove();
      resolve();
    });
  });
}

/** Ask for values. Resolves to what `save` gave, or to null when nothing was saved. */
export async function ask({ title, text, save, ...rest }) {
  let answer = null;
  await dialog(title, (close) => html`${text && html`<p>${text}</p>`}${form({
    label: title,
    ...rest,
    cancel: close,
    save: async (values) => {
      answer = (await save(values)) ?? true;
      close();
    },
  })}`);
  return answer;
}

/** Ask before something is done; `typed` is what has to be typed for it, in any case, and is given to `run`. */
export function confirm({ title, text, action, typed, run }) {
  const fields = typed
    ? [{ name: "confirmation", label: html`Type <b class="mono">${typed}</b> to confirm`, required: true }]
    : [];
  const ready = ({ confirmation }) => !typed || confirmation.trim().toLowerCase() === typed.toLowerCase();
  return ask({ title, text, action, danger: true, fields, ready, save: () => run(typed) });
}
