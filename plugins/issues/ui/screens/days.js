// A chart of events per day of UTC, up to today.

const DAY = 86_400_000;

/**
 * `rows`: `{ day, count }` of the days that have events; `more` is what the chart does besides.
 * @param {import("../../../../schemas/dashboard.d.ts").Ui} ui
 */
export default (ui, days, rows, more) => {
  const counts = new Map(rows.map(({ day, count }) => [day, count]));
  const today = Math.floor(Date.now() / DAY) * DAY;
  const starts = Array.from({ length: days }, (_, at) => ui.stamp(new Date(today - (days - 1 - at) * DAY)));
  const end = ui.stamp(new Date(today + DAY));
  return ui.chart({
    label: `Events per day, last ${days} days`,
    unit: ["event", "events"],
    starts,
    end,
    series: [{ id: "events", label: "Events", tone: "accent", values: starts.map((start) => counts.get(start.slice(0, 10)) ?? 0) }],
    marks: ui.marks({ from: starts[0], to: end }),
    empty: `No events in the last ${days} days.`,
    ...more,
  });
};
