// The events of an issue per day; a day that is clicked narrows the list of events.

const DAYS = 28;
const DAY = 86_400_000;

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, narrow) => {
  const { html } = ui;
  const day = (name) => ({ range: null, from: `${name} 00:00:00`, to: `${name} 23:59:59` });

  return (days) => {
    const counts = Object.fromEntries(days.map(({ day, count }) => [day, count]));
    const today = Math.floor(Date.now() / DAY) * DAY;
    const names = Array.from({ length: DAYS }, (_, at) => ui.stamp(new Date(today - (DAYS - 1 - at) * DAY)).slice(0, 10));
    const values = names.map((day) => counts[day] ?? 0);
    const total = values.reduce((sum, value) => sum + value, 0);
    const ends = { from: ui.stamp(new Date(today - (DAYS - 1) * DAY)), to: ui.stamp(new Date(today + DAY)) };
    return html`<figure class="chart"><div class="plot">
        <ui-bars class="histogram" values=${values.join()} label=${`Events per day, last ${DAYS} days`}
          .titles=${values.map((value, at) => `${names[at]}: ${ui.plural(value, "event")}`)} @pick=${({ detail }) => narrow.change(day(names[detail]))}></ui-bars>
        ${ui.slot("chart.marks", ends)}</div>
      <figcaption class="axis"><span>${names[0].slice(5)}</span><span>${ui.plural(total, "event")} in ${DAYS} days</span><span>today</span></figcaption>
    </figure>`;
  };
};
