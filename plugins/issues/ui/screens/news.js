// While nobody looks at the dashboard, its tab counts the issues that come up.

const PAUSE = 60_000;

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  let before = null;
  let timer = 0;

  async function count() {
    const { total } = await ui.api("summary").catch(() => ({ total: null })); // the next one may come through
    if (!total || !document.hidden) return;
    before ??= total.groups_count;
    ui.badge(Math.max(0, total.groups_count - before));
  }

  /** The tab was hidden, or is seen again. */
  return () => {
    clearInterval(timer);
    before = null;
    ui.badge(0);
    if (!document.hidden) return;
    timer = setInterval(count, PAUSE);
    void count();
  };
};
