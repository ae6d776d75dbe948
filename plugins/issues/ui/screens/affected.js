// Who and what is affected: the values that the events have, and how often.

const FIRST = 5; // values of a name
const NAMES = 8; // that are shown at once
const EXAMPLES = 3;
const TITLES = { user: "Users", host: "Hosts", release: "Releases", environment: "Environments" };

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, narrow) => {
  const { html, keyed } = ui;

  const title = ({ name, kind }) => (kind === "event" ? TITLES[name] : name);

  /** 1234.5678 → "1,234.6", 0.04217 → "0.0422" */
  function figure(value) {
    const [whole, part] = value.toFixed(Math.abs(value) < 1 ? 4 : 1).split(".");
    const decimals = part.replace(/0+$/, "");
    return `${ui.number(whole)}${decimals && `.${decimals}`}`;
  }

  const numbers = ({ min, median, p95, max }) => html`<dl class="spread">
    ${[["min", min], ["median", median], ["p95", p95], ["max", max]].map(([name, value]) => html`<div><dt>${name}</dt>
      <dd>${figure(value)}</dd></div>`)}</dl>`;

  function bars({ name, kind, values, distinct }, total) {
    const bar = ({ value, count }) => html`<li vars=${{ "--share": `${Math.round((100 * count) / Math.max(1, total))}%` }}>
      <span class="mono">${narrow.only(name, kind, value)}</span><span class="count">${ui.number(count)}</span></li>`;
    const list = (some) => html`<ul class="shares">${keyed(some, ({ value }) => value, bar)}</ul>`;
    // Each in one event: then the first ones say no more than any other.
    const first = values[0]?.count === 1 && distinct > FIRST ? EXAMPLES : FIRST;
    const unlisted = distinct - values.length;
    return html`${list(values.slice(0, first))} ${values.length > first && html`<details><summary>${ui.plural(values.length - first, "more value")}${unlisted > 0 && `; ${ui.number(unlisted)} not listed`}</summary>
      ${list(values.slice(first))}</details>`}`;
  }

  const said = ({ unit, distinct, events, values }, total) => [
    unit,
    distinct > 1 && values[0].count === 1 ? `${ui.number(distinct)} different values` : ui.plural(distinct, "value"),
    events < total && `in ${ui.number(events)} of ${ui.plural(total, "event")}`,
  ].filter(Boolean).join(", ");

  const facet = (total) => (one) => html`<li class="affected-one"><h3><b>${title(one)}</b> <span class="faint">${said(one, total)}</span></h3>
    ${one.numbers ? numbers(one.numbers) : bars(one, total)}</li>`;

  const facets = (some, total) => html`<ul class="affected">${keyed(some, ({ kind, name }) => `${kind} ${name}`, facet(total))}</ul>`;

  const constant = (some) => some.length > 0 && html`<dl class="pairs" aria-label="Same in all events">
    ${some.map((one) => html`<div><dt>${title(one)}</dt><dd class="mono">${one.values[0].value}${one.unit && ` ${one.unit}`}</dd></div>`)}</dl>`;

  const over = ({ events, complete, since, left_out: more }) => html`<p class="faint">${complete
    ? `Counted over ${ui.plural(events, "event")}.` : `Counted over the newest ${ui.plural(events, "event")}${since ? `, since ${ui.clock(since)}` : ""}.`}
    ${more > 0 && ` ${ui.plural(more, "further name")} not shown.`}</p>`;

  function content({ data, meta }) {
    if (!meta.events) return html`<p class="faint">No event to count.</p>`;
    const same = data.filter(({ distinct, events }) => distinct === 1 && events === meta.events);
    const differing = data.filter((one) => !same.includes(one));
    return html`${facets(differing.slice(0, NAMES), meta.events)}
      ${differing.length > NAMES && html`<details><summary>${ui.plural(differing.length - NAMES, "more name")}</summary>${facets(differing.slice(NAMES), meta.events)}</details>`}
      ${differing.length > 0 && same.length > 0 && html`<h3 class="faint">Same in all events</h3>`} ${constant(same)} ${over(meta)}`;
  }

  /** `counted`: the answer of `event-values`, null while it is awaited; `problem`: why there is none. */
  return ({ answer, problem, fresh }) => html`<section class="panel" id="affected" aria-labelledby="affected-title" aria-busy=${fresh ? null : "true"}>
    <h2 id="affected-title">Who and what is affected</h2>
    ${problem ? html`<p class="faint">Not counted: ${problem}</p>` : answer ? content(answer) : html`<p class="faint">Counting …</p>`}</section>`;
};
