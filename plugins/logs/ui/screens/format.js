// One format: a pattern over lines of a log, and what it gives of each of them while it is typed.

const LINES = 50;
const FIRST = String.raw`(?P<time>\S+ \S+) (?P<level>\w+) (?P<message>.*)`;
const GROUPS = "message is needed, and time or level; logger, thread, pid and host are known, any other name is context.";

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  let found = null; // what the pattern gives, as it was asked last

  async function note({ pattern, sample, zone }) {
    if (!pattern || !sample) return "";
    try {
      found = await api.post("log-formats-preview", { pattern, text: sample.split("\n").slice(0, LINES).join("\n"), zone: zone || undefined });
    } catch (error) {
      found = null;
      ui.refresh();
      return error.message;
    }
    ui.refresh();
    const { lines, matched, with_time: timed, with_level: levelled } = found;
    return `${matched} of ${ui.plural(lines.length, "line")} begin an entry; ${timed} have a time, ${levelled} a level.`;
  }

  const form = (format, sample) => ui.form({
    label: format ? `Format ${format.name}` : "New format",
    fields: [
      { name: "name", label: "Name", required: true, max: 32, half: true, hint: "Small letters, digits and underscores." },
      { name: "zone", label: "Time zone of its times", max: 64, half: true, none: true, placeholder: "same as other logs" },
      { name: "pattern", label: "Pattern", type: "text", rows: 3, required: true, max: 2000,
        hint: html`A regular expression (RE2) from the beginning of a line, with named groups like <code>(?P&lt;message&gt;.*)</code>: ${GROUPS}` },
      { name: "sample", label: "Example lines", type: "text", rows: 8, max: 20_000 },
      { name: "enabled", label: "Enabled", type: "check", value: true },
    ],
    values: { pattern: FIRST, ...format, sample: sample ?? format?.sample ?? "" },
    keep: true,
    note,
    async save(values) {
      await api.post("log-formats", format ? { id: format.id, ...values } : values);
      ui.toast("Saved. It applies to lines read from now on; read logs again to apply it to the rest.");
      ui.go({ view: "formats" });
    },
  });

  async function firstLines(id, options) {
    const { lines } = await api("source", { source_id: id, offset: 0, lines: LINES }, options);
    return lines.map(({ text }) => text).join("\n").slice(0, 20_000);
  }

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  async function load({ id, source }, { signal }) {
    found = null;
    const [{ data: formats }, { data: sources }, sample] = await Promise.all([
      api("log-formats", {}, { signal }), api("sources", { limit: 100 }, { signal }), source ? firstLines(source, { signal }) : null,
    ]);
    const format = formats.find((one) => String(one.id) === id) ?? null;
    return { format, source: source ?? "", sources: sources.filter(({ log_type: type }) => type !== "http"), form: form(format, sample) };
  }

  const part = ({ group, text }) => (group ? html`<mark class="part" data-group=${group} title=${group}>${text}</mark>` : text);

  /** What a line gives, in words. */
  function words({ matched, continuation, time, level, channel, context }) {
    if (!matched) return continuation ? "continues the entry above" : "is not matched";
    const more = Object.entries(context).map(([name, text]) => `${name} ${text}`);
    return [time ?? "no time", level ? ui.level(level) : "no level", channel && `logger ${channel}`, ...more].filter(Boolean).join(" · ");
  }

  const preview = () => found && html`<section class="card block" aria-labelledby="gives"><h2 id="gives">How each line is read</h2>
    <ol class="gives" tabindex="0" aria-label="How each line is read">${found.lines.map((line) => html`<li data-matched=${line.matched ? "yes" : "no"}>
      <code>${line.parts.map(part)}</code><div class="faint">${words(line)}</div></li>`)}</ol></section>`;

  const choose = ({ sources, source, format }) => sources.length > 0 && html`<div class="form"><div class="field"><label for="file">Take the first lines of</label>
    <select id="file" .value=${source} @change=${(event) => ui.go({ view: "format", id: format?.id, source: event.target.value })}>
      <option value="">no log</option>${sources.map(({ id, path }) => html`<option value=${String(id)}>${path}</option>`)}</select></div></div>`;

  return {
    load,
    heading: (data) => data?.format?.name ?? "New format",
    keys: [{ key: "u", label: "Back to all formats", run: () => ui.go({ view: "formats" }) }],
    render: (data) => html`<p class="crumbs"><a href=${ui.link({ view: "sources" })}>Logs</a> / <a href=${ui.link({ view: "formats" })}>Formats</a></p>
      <div class="head"><h1 tabindex="-1">${data.format?.name ?? "New format"}</h1></div>
      <div class="stack"><section class="card block">${choose(data)} ${data.form}</section> ${preview()}</div>`,
  };
};
