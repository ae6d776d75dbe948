// A button that opens a list of actions. A popover: the browser closes it on Esc or a click elsewhere.

import { html } from "../dom.js";

const EDGE = 8;

function settle(event) {
  if (event.newState !== "open") return;
  const list = event.target;
  const button = list.previousElementSibling.getBoundingClientRect();
  list.style.setProperty("top", `${button.bottom + 2}px`);
  list.style.setProperty("right", `${Math.max(EDGE, document.documentElement.clientWidth - button.right)}px`);
}

function pick(event, run) {
  event.target.closest("[popover]").hidePopover();
  return run();
}

/** `items`: `{ label, run, danger }`, what is falsy is left out; `label` is unique on the page. */
export function menu(label, items) {
  const id = `menu-${encodeURIComponent(label)}`;
  return html`<span class="menu"><button class="button" type="button" aria-label=${label} title=${label} popovertarget=${id}><ui-icon name="more"></ui-icon></button>
    <div id=${id} class="menu-list" popover @beforetoggle=${settle}>${items.filter(Boolean).map((item) => html`<button
      class=${item.danger ? "button button-plain danger" : "button button-plain"} type="button"
      @click=${(event) => pick(event, item.run)}>${item.label}</button>`)}</div></span>`;
}
