// The message of an event, with what differs from others marked.

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, narrow) => {
  const { html } = ui;

  /** `row`: an event; at most so many characters of it are shown. */
  return function message({ message: text, values }, most = Infinity) {
    if (text === null) return html`<span class="faint">The message was not kept</span>`;
    const letters = Array.from(text); // the service counts characters, the browser units of UTF-16
    const parts = [];
    let at = 0;
    for (const { name, unit, value, start } of values) {
      const length = Array.from(value).length;
      if (start + length > most) break;
      if (length === letters.length || !length) continue; // all of it differs: then a mark says nothing
      parts.push(letters.slice(at, start).join(""));
      parts.push(html`<mark class="value" title=${[name, unit].filter(Boolean).join(", ")}>${narrow.only(name, "message", value)}</mark>`);
      at = start + length;
    }
    parts.push(letters.slice(at, most).join(""));
    if (letters.length > most) parts.push("…");
    return parts;
  };
};
