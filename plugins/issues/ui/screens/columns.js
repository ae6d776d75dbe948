// The columns of the list of events: those in which the events differ, unless somebody chose otherwise.

const MOST = 4; // that are chosen by themselves
const LEAST_SHARE = 0.1; // of the events must have one
const REMEMBERED = 100;
const LEVEL = { name: "level", kind: "row" };
const FIELDS = { user: "user", host: "server_name", release: "release", environment: "environment" };

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, memory, narrow, badge) => {
  const { html, keyed } = ui;

  /** What can be a column: all that the events differ in. */
  function possible(rows, counted) {
    const levels = new Set(rows.map(({ severity }) => severity)).size > 1;
    return [...(levels ? [LEVEL] : []), ...(counted?.data ?? []).filter(({ distinct }) => distinct > 1)];
  }

  /** The names of those that show by themselves: what stands in the message need not stand twice. */
  function usual(columns, counted) {
    const worth = columns.filter(({ kind, events }) => kind === "row" || (kind !== "message" && events >= LEAST_SHARE * counted.meta.events));
    return worth.slice(0, MOST).map(({ name }) => name);
  }

  const choices = () => memory.read("columns", {});

  function chosen(rows, counted) {
    const columns = possible(rows, counted);
    const shown = usual(columns, counted);
    const own = choices();
    return columns.filter(({ name }) => (Object.hasOwn(own, name) ? own[name] : shown.includes(name)));
  }

  function choose(name, on) {
    const others = Object.entries(choices()).filter(([other]) => other !== name);
    memory.write("columns", Object.fromEntries([...others.slice(1 - REMEMBERED), [name, on]]));
    ui.refresh();
  }

  function picker(rows, counted) {
    const columns = possible(rows, counted);
    const shown = chosen(rows, counted).map(({ name }) => name);
    return columns.length > 0 && html`<details class="picker"><summary>Columns</summary>
      <div class="checks" role="group" aria-label="Columns">${keyed(columns, ({ kind, name }) => `${kind} ${name}`, ({ name }) => html`<label class="check">
        <input type="checkbox" .checked=${shown.includes(name)} @change=${({ target }) => choose(name, target.checked)} />${name}</label>`)}</div></details>`;
  }

  /** What a row has in a column, or null. */
  function cell(row, { name, kind }) {
    if (kind === "row") return narrow.only("severity", "event", row.severity, badge(row.severity));
    if (kind === "event") return row[FIELDS[name]] && narrow.only(name, kind, row[FIELDS[name]]);
    const inside = row.values.find((value) => value.name === name);
    const value = inside?.value ?? row.fields?.[name];
    if (value === undefined) return null;
    return html`${narrow.only(name, kind, value)} ${inside?.unit && html`<span class="faint">${inside.unit}</span>`}`;
  }

  return { cell, chosen, picker };
};
