// The exceptions of an event: the one raised last first, library frames folded, the raising frame marked.

export default ({ html, link, plural }) => {
  const where = ({ file, line, column }) => [file, line, column].filter((part) => part !== null && part !== undefined).join(":");

  const frameView = (frame, place, query, raising) => html`<li
    class=${["frame-line", raising && "frame-raising", query.frame === place && "frame-target"].filter(Boolean).join(" ")}
    id=${`frame-${place}`}>
    <a class="frame-link" href=${link({ ...query, frame: place })} aria-label="Link to this frame">#</a>
    <span class="mono">${frame.function ?? "(no function)"}</span> <span class="mono faint">${where(frame)}</span>
  </li>`;

  /** Runs of library frames become one folded entry; a linked frame opens its fold. */
  function folded(frames, at, query) {
    const raising = Math.max(0, frames.findIndex((frame) => frame.in_app));
    const foldable = frames.some((frame) => frame.in_app);
    const groups = [];
    frames.forEach((frame, index) => {
      const library = foldable && !frame.in_app;
      if (!groups.length || groups.at(-1).library !== library) groups.push({ library, lines: [], places: [] });
      const place = `${at}.${index}`;
      groups.at(-1).places.push(place);
      groups.at(-1).lines.push(frameView(frame, place, query, index === raising));
    });
    return groups.map(({ library, lines, places }) => library
      ? html`<li><details ?open=${places.includes(query.frame)}>
          <summary>${plural(lines.length, "library frame")}</summary><ol class="frames">${lines}</ol></details></li>`
      : lines);
  }

  const exceptionView = (exception, at, first, query) => html`<section class="exception">
    <h3>${first ? "" : html`<span class="faint">caused by</span>`} <b class="mono">${exception.class}</b></h3>
    ${exception.message && html`<pre class="message">${exception.message}</pre>`}
    ${exception.frames.length > 0 && html`<ol class="frames">${folded(exception.frames, at, query)}</ol>`}
  </section>`;

  /** The trace as the logger wrote it, to read and to copy. */
  const text = (stack) => html`<details class="as-text"><summary>Trace as text</summary>
    <pre tabindex="0" aria-label="Trace as text">${stack}</pre><ui-copy text=${stack} label="Copy trace"></ui-copy></details>`;

  return function stack(exceptions, written, query) {
    if (!exceptions.length) {
      return written && html`<pre class="trace" tabindex="0" aria-label="Trace">${written}</pre>
        <ui-copy text=${written} label="Copy trace"></ui-copy>`;
    }
    const newest = exceptions.length - 1;
    return html`${exceptions.map((_, index) => exceptionView(exceptions[newest - index], newest - index, index === 0, query))}
      ${written && text(written)}`;
  };
};
