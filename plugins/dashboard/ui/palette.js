// The command palette (Ctrl K): pages, applications, shortcuts, and what areas find for the typed text.

import { html, keyed, render } from "./dom.js";
import { navigation, offersFor, offersLater } from "./registry.js";
import { go } from "./api.js";

const MOST = 12;
const PAUSE = 200; // milliseconds without a key, before anything is asked for

/** What is offered, `{ label, hint, run }`: what areas find, every page, every shortcut of this page, every application. */
function offers(text, later, { journeys, bindings, wayTo, applications }) {
  const journeyOf = new Map(journeys().map(({ label, key }) => [label, key]));
  const pages = navigation().map((page) => ({
    label: `Go to ${page.title}`, hint: journeyOf.get(`Go to ${page.title}`), run: () => go(wayTo(page)),
  }));
  const known = new Set(pages.map(({ label }) => label));
  const commands = bindings().filter(({ label }) => !known.has(label)).map(({ key, label, run }) => ({ label, hint: key, run }));
  const others = applications.map(({ id, name }, at) => ({ label: `Switch to ${name}`, run: () => go({ app: at ? id : null }) }));
  return [...offersFor(text), ...later, ...pages, ...commands, ...(others.length > 1 ? others : [])];
}

/**
 * Fill the open dialog, whose field may hold text already; `entered`: and Enter was pressed. `shell` has the shortcuts
 * and applications. Everything is filtered by the words typed.
 */
export function palette(dialog, shell, entered) {
  let text = dialog.querySelector("input").value;
  let at = 0;
  /** What was asked for and came since. */
  let later = [];
  let timer = 0;
  let asking = new AbortController();

  const found = () => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const all = offers(text.trim(), later, shell);
    const named = all.filter(({ label, always }) => !always && words.every((word) => label.toLowerCase().includes(word)));
    const others = all.filter(({ always }) => always);
    return [...named.slice(0, Math.max(0, MOST - others.length)), ...others]; // what is called so comes before what takes any text
  };

  function typed(value) {
    text = value;
    at = 0;
    later = [];
    draw();
    asking.abort();
    clearTimeout(timer);
    if (text.trim()) timer = setTimeout(ask, PAUSE);
  }

  async function ask() {
    const { signal } = (asking = new AbortController());
    const offered = await offersLater(text.trim(), signal);
    if (signal.aborted || !dialog.open) return;
    const chosen = found()[at];
    later = offered.map((offer) => ({ ...offer, always: true }));
    // What was chosen stays so, wherever it stands now.
    at = Math.max(0, found().findIndex(({ label }) => label === chosen?.label));
    draw();
  }

  function run(item) {
    dialog.close();
    document.getElementById("page")?.focus({ preventScroll: true }); // not what had it before: Enter would press that
    item?.run();
  }

  function press(event) {
    const items = found();
    if (event.key === "Enter") run(items[at]);
    else if (event.key === "ArrowDown") at = Math.min(at + 1, items.length - 1);
    else if (event.key === "ArrowUp") at = Math.max(at - 1, 0);
    else return;
    event.preventDefault();
    draw();
  }

  const option = (item, index) => html`<li role="option" id=${`command-${index}`} aria-selected=${index === at ? "true" : "false"} @click=${() => run(item)}>
    <span>${item.label}</span> <kbd hidden=${item.hint ? null : true}>${item.hint}</kbd></li>`;

  function draw() {
    const items = found();
    render(html`<input type="text" role="combobox" aria-label="Command" aria-expanded="true" aria-controls="commands" aria-autocomplete="list"
        aria-activedescendant=${items.length ? `command-${at}` : null} placeholder="Go to a page, find an issue, do something …" autocomplete="off" spellcheck="false"
        @keydown=${press} @input=${(event) => typed(event.target.value)} />
      <ul id="commands" role="listbox" aria-label="Commands">${keyed(items, ({ label }, index) => `${index} ${label}`, option)}</ul>
      ${!items.length && html`<p class="faint" role="status">Nothing found.</p>`}`, dialog);
  }

  if (entered) return run(found()[0]);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    clearTimeout(timer);
    asking.abort();
  });
  draw();
  const field = dialog.querySelector("input");
  field.value = text;
  if (text) typed(text);
  field.focus();
}
