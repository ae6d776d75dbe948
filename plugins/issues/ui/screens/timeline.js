// The events of an issue per day; days that are chosen narrow the list of events.

const DAYS = 28;
const DAY = 86_400_000;

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, narrow) => {
  const lastSecond = (end) => ui.stamp(new Date(+ui.moment(end) - 1000));
  const pick = ({ from, to }) => narrow.change({ range: null, from, to: lastSecond(to) });
  const clear = () => narrow.change({ range: null, from: null, to: null });

  return (days) => {
    const counts = Object.fromEntries(days.map(({ day, count }) => [day, count]));
    const today = Math.floor(Date.now() / DAY) * DAY;
    const starts = Array.from({ length: DAYS }, (_, at) => ui.stamp(new Date(today - (DAYS - 1 - at) * DAY)));
    const end = ui.stamp(new Date(today + DAY));
    const { from, to } = narrow.filters(ui.query());
    return ui.chart({
      label: `Events per day, last ${DAYS} days`,
      unit: ["event", "events"],
      starts,
      end,
      series: [{ id: "events", label: "Events", tone: "accent", values: starts.map((start) => counts[start.slice(0, 10)] ?? 0) }],
      marks: ui.marks({ from: starts[0], to: end }),
      picked: from || to ? { from, to } : null,
      empty: `No events in the last ${DAYS} days.`,
      pick,
      clear,
    });
  };
};
