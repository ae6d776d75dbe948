// A button that opens a list of actions. A popover: the browser closes it on Esc or a click elsewhere.

import { html } from "../dom.js";

const EDGE = 8;
const GAP = 2;

/** Under the button or, where there is more room, over it. */
function settle(event) {
  if (event.newState !== "open") return;
  const list = event.target;
  const button = list.previousElementSibling.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  const over = button.top > height - button.bottom && button.bottom > height / 2;
  list.style.setProperty("top", over ? "auto" : `${button.bottom + GAP}px`);
  list.style.setProperty("bottom", over ? `${height - button.top + GAP}px` : "auto");
  list.style.setProperty("right", `${Math.max(EDGE, width - button.right)}px`);
}

const focusFirst = ({ newState, target }) => newState === "open" && target.querySelector("button")?.focus();

function walk(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const items = [...event.currentTarget.querySelectorAll("button")];
  items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
}

function pick(event, run) {
  event.target.closest("[popover]").hidePopover();
  return run();
}

/** `items`: `{ label, run, danger }`, what is falsy is left out; `label` is unique on the page. `text` stands on the button. */
export function menu(label, items, { text } = {}) {
  const id = `menu-${encodeURIComponent(label)}`;
  return html`<span class="menu"><button class=${text ? "button menu-text" : "button"} type="button" aria-label=${label} title=${text ? null : label} aria-haspopup="true" popovertarget=${id}>
      ${text ?? html`<ui-icon name="more"></ui-icon>`}</button>
    <div id=${id} class="menu-list" popover @beforetoggle=${settle} @toggle=${focusFirst} @keydown=${walk}>${items.filter(Boolean).map((item) => html`<button
      class=${item.danger ? "button button-plain danger" : "button button-plain"} type="button"
      @click=${(event) => pick(event, item.run)}>${item.label}</button>`)}</div></span>`;
}
