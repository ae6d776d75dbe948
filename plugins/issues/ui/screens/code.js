// The code of a frame: its line, and the lines around it where they are known.

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default ({ html }) => {
  const row = (text, number, failing) => html`<span class=${failing ? "code-row code-failing" : "code-row"}><span
    class="code-number" data-number=${number ?? ""}></span><code>${text}</code></span>`;

  /** `frame` with a context; `open`: the lines around are shown. */
  return function code({ context: { pre, line, post }, line: number, file }, open) {
    const alone = html`<span class="code-block">${row(line.trim(), number)}</span>`;
    if (!pre.length && !post.length) return html`<div class="code">${alone}</div>`;
    const first = number === null ? null : number - pre.length;
    const counted = (at) => (first === null ? null : first + at);
    const lines = [...pre, line, ...post];
    return html`<details class="code" ?open=${open}>
      <summary>${alone}<span class="code-range">${first === null ? "Code" : `Lines ${first} to ${number + post.length}`}</span></summary>
      <pre class="code-block" tabindex="0" aria-label=${`Code of ${file ?? "the frame"}`}>${lines.map((text, at) =>
        row(text, counted(at), at === pre.length))}</pre></details>`;
  };
};
