// The time range of the list: the chart of the last 24 hours to drag over, and the ranges to choose from.

const HOUR = 3_600_000;
/** Hours and label by name. @type {Map<string, [number, string]>} */
const RANGES = new Map([
  ["1h", [1, "Last hour"]], ["24h", [24, "Last 24 hours"]], ["7d", [168, "Last 7 days"]], ["30d", [720, "Last 30 days"]],
]);

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, change) => {
  const { html, keyed } = ui;
  const stampAt = (time) => ui.stamp(new Date(time));

  /** The API's `from` and `to` of an address; `range` counts back from now. */
  function limits({ range, from, to }) {
    const hours = RANGES.get(range)?.[0];
    return hours ? { from: stampAt(Date.now() - hours * HOUR), to: undefined } : { from, to };
  }

  const chosen = ({ range, from, to, date }) => Boolean(RANGES.has(range) || from || to || date);
  const none = { range: null, from: null, to: null, date: null };
  const short = (time) => time.slice(5, 16);

  /** How the chosen range reads: "11-28 07:00 to 11-28 09:00". */
  function text({ from, to, date }) {
    if (date) return date;
    if (from && to) return `${short(from)} to ${short(to)}`;
    return from ? `Since ${short(from)}` : `Before ${short(to)}`;
  }

  function select(query) {
    const other = !RANGES.has(query.range) && chosen(query);
    const options = [["", "Any time"], ...[...RANGES].map(([id, [, label]]) => [id, label]),
      ...(other ? [["chosen", text(query)]] : []), ["dates", "From … to …"]];
    function set({ target }) {
      if (target.value !== "dates") return change({ ...none, range: target.value || null });
      target.value = RANGES.has(query.range) ? query.range : other ? "chosen" : "";
      void open();
    }
    return html`<select aria-label="Time" .value=${other ? "chosen" : RANGES.has(query.range) ? query.range : ""} @change=${set}>
      ${keyed(options, ([id]) => id, ([id, label]) => html`<option value=${id}>${label}</option>`)}
    </select>`;
  }

  /** The form of two dates; fetched when it is asked for, null while nobody does. */
  let asked = null;

  async function open() {
    const { default: form } = await import("./dates.js");
    asked = form(ui, (chosen) => {
      asked = null;
      if (chosen) change({ ...none, ...chosen });
      else ui.refresh();
    });
    ui.refresh();
    document.querySelector("#range-from")?.focus();
  }

  const dates = (query) => asked?.(limits(query));

  /** The events of the last 24 hours; a click takes an hour, a drag several. */
  function chart({ hours: values }, query) {
    const count = values.length;
    const first = Math.floor(Date.now() / HOUR) * HOUR - (count - 1) * HOUR;
    const start = (at) => stampAt(first + at * HOUR);
    const pick = (from, to) => change({ ...none, from: start(Math.min(from, to)), to: start(Math.max(from, to) + 1) });
    const total = values.reduce((sum, value) => sum + value, 0);
    return html`<figure class="chart">
      <div class="brush plot" @pointerdown=${(event) => drag(event, count, pick)}>
        <ui-bars class="histogram" values=${values.join()} label="Events per hour, last 24 hours" @pick=${({ detail }) => pick(detail, detail)}
          .titles=${values.map((value, at) => `${start(at).slice(5, 16)} UTC: ${ui.plural(value, "event")}`)}></ui-bars>
        ${ui.slot("chart.marks", { from: start(0), to: start(count) })}
        <div class="brush-range" vars=${marked(limits(query), first, count)}></div>
      </div>
      <figcaption class="axis"><span>${start(0).slice(11, 16)} UTC</span>
        <span>${ui.plural(total, "event")} in 24 hours${total > 0 && html`<span class="hint">, drag to choose a range</span>`}</span>
        <span>now</span></figcaption>
    </figure>`;
  }

  /** Where the chosen range lies on the chart, as parts of its width. */
  function marked({ from, to }, first, count) {
    const at = (time, otherwise) => Math.min(1, Math.max(0, time ? (+ui.moment(time) - first) / (count * HOUR) : otherwise));
    const [left, right] = from || to ? [at(from, 0), at(to, 1)] : [0, 0];
    return place(left, right);
  }

  const place = (left, right) => ({ "--left": `${(100 * left).toFixed(2)}%`, "--width": `${(100 * (right - left)).toFixed(2)}%` });

  function drag(event, count, pick) {
    if (event.button) return;
    const brush = event.currentTarget;
    const { left, width } = brush.getBoundingClientRect();
    const hour = ({ clientX }) => Math.min(count - 1, Math.max(0, Math.floor(((clientX - left) / width) * count)));
    const from = hour(event);
    let to = from;
    const stop = new AbortController();
    const listen = (name, run) => document.addEventListener(name, run, { signal: stop.signal });
    listen("pointermove", (moved) => {
      to = hour(moved);
      if (to === from) return;
      const values = place(Math.min(from, to) / count, (Math.max(from, to) + 1) / count);
      for (const [name, value] of Object.entries(values)) brush.lastElementChild.style.setProperty(name, value);
    });
    listen("pointercancel", () => stop.abort());
    listen("pointerup", () => {
      stop.abort();
      if (to !== from) pick(from, to);
    });
  }

  return { chart, chosen, dates, limits, select };
};
