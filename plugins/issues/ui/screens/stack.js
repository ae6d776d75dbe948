// The exceptions of an event, the one raised last first: frames with their code, what says little folded.

import { memoryOf } from "../row.js";
import codeOf from "./code.js";
import { fold } from "./folding.js";

const LAST = "innermost_last"; // what is remembered

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, link, plural } = ui;
  const codeView = codeOf(ui);
  const memory = memoryOf(ui);
  let innermostLast = null;

  const where = ({ file, line, column }) => [file, line, column].filter((part) => part !== null && part !== undefined).join(":");

  const repository = ({ source_link: address }) => /^https?:\/\//.test(address ?? "") && html`<a class="frame-source"
    href=${address} rel="noreferrer" target="_blank">Open in repository</a>`;

  const frameView = ({ frame, place, raising, shown }, query) => html`<li
    class=${["frame-line", raising && "frame-raising", query.frame === place && "frame-target"].filter(Boolean).join(" ")}
    id=${`frame-${place}`}>
    <a class="frame-link" href=${link({ ...query, frame: place })} aria-label="Link to this frame">#</a>
    <span class="mono">${frame.function ?? "(no function)"}</span> <span class="mono faint">${where(frame)}</span>
    ${repository(frame)}
    ${frame.context && codeView(frame, shown)}
  </li>`;

  const again = ({ size, count }) => size === 1 ? `recurses ${ui.number(count)} times` : `these ${size} frames recur ${ui.number(count)} times`;

  /** A part of the stack; a linked frame opens its fold. */
  function partView(part, query) {
    const lines = part.calls.map((call) => frameView(call, query));
    if (part.kind === "frames") return lines;
    const said = part.kind === "again" ? again(part) : plural(lines.length, "library frame");
    const kind = part.kind === "again" ? "fold fold-again" : "fold";
    if (!lines.length) return html`<li class=${kind}>${said}</li>`;
    return html`<li class=${kind}><details ?open=${part.calls.some(({ place }) => place === query.frame)}>
      <summary>${said}</summary><ol class="frames">${lines}</ol></details></li>`;
  }

  function framesView(frames, at, first, query) {
    const raising = Math.max(0, frames.findIndex((frame) => frame.in_app));
    const calls = frames.map((frame, index) => ({
      frame, place: `${at}.${index}`, raising: index === raising, shown: first && index === raising,
    }));
    return html`<ol class="frames">${fold(innermostLast ? calls.reverse() : calls).map((part) => partView(part, query))}</ol>`;
  }

  const exceptionView = (exception, at, first, query) => html`<section class="exception">
    <h3>${first ? "" : html`<span class="faint">caused by</span>`} <b class="mono">${exception.class}</b></h3>
    ${exception.message && html`<pre class="message">${exception.message}</pre>`}
    ${exception.frames.length > 0 && framesView(exception.frames, at, first, query)}
  </section>`;

  /** The trace as the logger wrote it, to read and to copy. */
  const text = (stack) => html`<details class="as-text"><summary>Trace as text</summary>
    <pre tabindex="0" aria-label="Trace as text">${stack}</pre><ui-copy text=${stack} label="Copy trace"></ui-copy></details>`;

  function turn(event) {
    innermostLast = event.target.value === "last";
    memory.write(LAST, innermostLast);
    ui.refresh();
  }

  const order = () => html`<p class="frame-order"><label>Stack order
    <select .value=${innermostLast ? "last" : "first"} @change=${turn}>
      <option value="first">Innermost first</option><option value="last">Innermost last</option></select></label></p>`;

  return function stack(exceptions, written, query) {
    innermostLast ??= memory.read(LAST, false);
    if (!exceptions.length) {
      return written && html`<pre class="trace" tabindex="0" aria-label="Trace">${written}</pre>
        <ui-copy text=${written} label="Copy trace"></ui-copy>`;
    }
    const newest = exceptions.length - 1;
    return html`${exceptions.some(({ frames }) => frames.length > 1) && order()}
      ${exceptions.map((_, index) => exceptionView(exceptions[newest - index], newest - index, index === 0, query))}
      ${written && text(written)}`;
  };
};
