// What a button opens: where it stands, and the list of actions. A popover: the browser closes it on Esc or a click elsewhere.

import { html } from "../dom.js";
import { popover } from "../widgets.js";

const EDGE = 8;
const GAP = 2;
const FIRST = "input, button, a[href]";

/** Under the button or, where it has no room there and more above, over it; and within the window. */
function place(button, list) {
  const { top, bottom, left } = button.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  const over = bottom + GAP + list.offsetHeight > height - EDGE && top > height - bottom;
  // Held at the button's side: a list that grows or shrinks stays with it.
  list.style.setProperty("top", over ? "auto" : `${bottom + GAP}px`);
  list.style.setProperty("bottom", over ? `${height - top + GAP}px` : "auto");
  list.style.setProperty("left", `${Math.max(EDGE, Math.min(left, width - EDGE - list.offsetWidth))}px`);
}

/** A link that is followed leaves the box, too. */
const followed = ({ target, currentTarget }) => target.closest("a[href]") && currentTarget.hidePopover();

/** The browser closes the box, and the focus goes back to its button: no other use of Esc comes between. */
const escaped = (event) => event.key === "Escape" && event.stopPropagation();

const told = ({ newState, target }) => target.previousElementSibling.setAttribute("aria-expanded", newState === "open" ? "true" : "false");

/** Show the box of a button, with the focus in it, or hide it; `opening` is awaited before it shows. */
export async function toggle(button, list, opening) {
  if (list.matches(":popover-open")) return list.hidePopover();
  await opening?.();
  // Once for each: the same function is not added again.
  list.addEventListener("beforetoggle", told);
  list.addEventListener("keydown", escaped);
  list.addEventListener("click", followed);
  list.showPopover({ source: button });
  place(button, list);
  (list.querySelector(FIRST) ?? list).focus();
}

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
export const menu = (label, items, { text } = {}) => popover(label, html`<div class="menu-items" @keydown=${walk}>${items.filter(Boolean).map((item) => html`<button
  class=${item.danger ? "button button-plain danger" : "button button-plain"} type="button"
  @click=${(event) => pick(event, item.run)}>${item.label}</button>`)}</div>`, text ? { text } : { icon: "more" });
