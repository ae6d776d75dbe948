// How far work is: `{ done, total, unit, text }` as jobs and runs say it.

import { html } from "../dom.js";
import { number } from "../text.js";

/** A bar with words; without a known total it only moves. */
export const progress = ({ done, total, unit = "", text }, label) => html`<span class="progress">
  <progress aria-label=${label} max=${total ? total : null} value=${total ? Math.min(done, total) : null}></progress>
  <span class="faint">${number(done)}${total ? ` of ${number(total)}` : ""} ${unit}${text ? ` · ${text}` : ""}</span></span>`;
