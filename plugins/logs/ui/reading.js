// How well a log is read: how many of its entries have a time and a level, in words.

import { skipped } from "./levels.js";

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html } = ui;

  /** A share in percent; never 0 or 100 while there are others. */
  function share(some, all) {
    if (some === 0 || some === all) return `${some ? 100 : 0}%`;
    return `${Math.min(99, Math.max(1, Math.round((100 * some) / all)))}%`;
  }

  /** Nothing, where all is known. */
  const shares = ({ entries, with_time: timed, with_level: levelled }) => (timed < entries || levelled < entries) && `${share(timed, entries)} with a time, ${share(levelled, entries)} with a level`;

  const filtered = ({ reading, filtered_as: which }) => reading.filtered > 0 && skipped(ui, reading.filtered, which);

  /** The cell of a table: the number of entries, and what is known of them. */
  const short = (source) => source.reading?.entries > 0 && html`${ui.number(source.reading.entries)}
    ${[shares(source.reading), filtered(source)].filter(Boolean).map((text) => html`<div class="faint">${text}</div>`)}`;

  const remarks = ({ id, remarks: found }) => found?.map(({ kind, text }) => html`<p class="remark" data-kind=${kind}>${kind === "warning" && html`<b>Warning: </b>`}${text}
    ${kind === "warning" && html`<a class="button" href=${ui.link({ view: "format", source: id })}>Make a format</a>`}</p>`);

  /** Where the lines have what, and what was counted. */
  const whole = (source) => html`${source.layout && html`<p>${source.layout.sentence}</p>`}
    ${source.reading?.entries > 0 && html`<p class="faint">${[ui.plural(source.reading.entries, "entry", "entries"), shares(source.reading), filtered(source)].filter(Boolean).join(" · ")}</p>`}
    ${remarks(source)}`;

  return { short, remarks, whole };
};
