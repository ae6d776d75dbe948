// The way from page to page of a list.

import { html } from "./dom.js";
import { number, plural } from "./format.js";
import { link, query } from "./routes.js";

/** The pages of a list, by the parameter `page` of the address, or `name`; `meta` as the service gives it. */
export function pager({ page, pages, total, total_exact: exact = true }, word, words = `${word}s`, name = "page") {
  if (!total && page < 2) return null;
  const count = html`<span class="faint">${exact ? "" : "over "}${plural(total, word, words)}</span>`;
  if (pages < 2 && page < 2) return html`<p class="pager">${count}</p>`;
  const to = (target, rel, text) => target >= 1 && target <= pages
    ? html`<a class="button" rel=${rel} href=${link({ ...query(), [name]: target === 1 ? null : target })}>${text}</a>`
    : html`<span class="button button-off">${text}</span>`;
  return html`<nav class="pager" aria-label=${`Pages of ${words}`}>${to(page - 1, "prev", "Previous")}
    <span>Page ${number(page)} of ${number(pages)}</span> ${to(page + 1, "next", "Next")} ${count}</nav>`;
}
