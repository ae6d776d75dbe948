// The events of an issue per day; days that are chosen narrow the list of events.

import daysOf from "./days.js";

const DAYS = 28;

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, narrow) => {
  const pick = ({ from, to }) => narrow.change({ range: null, from, to });
  const clear = () => narrow.change({ range: null, from: null, to: null });

  return (days) => {
    const { from, to } = narrow.filters(ui.query());
    return daysOf(ui, DAYS, days, { picked: from || to ? { from, to } : null, pick, clear });
  };
};
