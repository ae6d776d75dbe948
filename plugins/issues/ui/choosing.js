// What is selected in the list: some rows, or all issues that the filters find; and the row of the keyboard.

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export const choosing = (ui) => {
  let cursor = -1, anchor = -1;
  let ids = new Set();
  let all = false;
  let data = null;
  /** The bar over the selected rows; fetched when rows are selected for the first time. */
  let bar = null;

  async function needBar() {
    const [bulk] = await Promise.all([import("./screens/bulk.js"), ui.widgets()]);
    bar ??= bulk.default(ui);
    ui.refresh();
  }

  function changed() {
    all = false;
    ui.refresh();
    if (ids.size) void needBar();
  }

  function choose(at, on, toAnchor) {
    const [from, to] = toAnchor && anchor >= 0 ? [Math.min(anchor, at), Math.max(anchor, at)] : [at, at];
    for (const { id } of data.items.slice(from, to + 1)) ids[on ? "add" : "delete"](id);
    anchor = at;
    changed();
  }

  function choosePage(on) {
    ids = new Set(on ? data.items.map(({ id }) => id) : []);
    changed();
  }

  const clear = () => choosePage(false);

  /** Close a list that is open; without one nothing stays selected. */
  function leave() {
    const open = document.querySelector(":popover-open");
    if (open instanceof HTMLElement) open.hidePopover();
    else clear();
  }

  const has = ({ id }) => ids.has(id);

  /** The selected rows, or everything that the filters find. */
  function selected(filter) {
    const issues = data.items.filter(has);
    return all ? { issues, filter, total: data.meta.total } : { issues };
  }

  /** What a key acts on: what is selected or, without that, the row of the keyboard. */
  const subject = (filter) => (ids.size ? selected(filter) : { issues: [data.items[cursor]].filter(Boolean) });

  /** The bar, while rows are selected; `filter` is what all that match are found by, null when that cannot be said. */
  function view(filter) {
    if (!bar || !ids.size) return null;
    const { items, meta, tags, people } = data;
    const rest = filter && !all && items.every(has) && meta.total > items.length;
    const more = rest && { label: `Select all ${meta.total_exact ? "" : "over "}${ui.number(meta.total)} that match`,
      run: () => { all = true; ui.refresh(); } };
    return bar({ subject: selected(filter), tags, people, more, clear });
  }

  function move(step) {
    if (!data.items.length) return;
    cursor = Math.min(Math.max(cursor + step, 0), data.items.length - 1);
    ui.refresh();
    document.querySelector(".row-cursor")?.scrollIntoView({ block: "nearest" });
  }

  const atCursor = (run) => () => data.items[cursor] && run(data.items[cursor]);

  /** To a control of the bar; the row of the keyboard is selected when none is. */
  const toBar = (control) => async () => {
    if (!ids.size && data.items[cursor]) choose(cursor, true, false);
    if (!ids.size) return ui.toast("Move to an issue with j and k first, or select some.");
    await needBar();
    document.querySelector(`.bulk ${control}`)?.click();
  };

  const keys = [
    { key: "j", label: "Next issue", run: () => move(1) },
    { key: "k", label: "Previous issue", run: () => move(-1) },
    { key: "x", label: "Select the issue", run: atCursor((issue) => choose(cursor, !has(issue), false)) },
    { key: "X", label: "Select up to the issue", run: atCursor(() => choose(cursor, true, true)) },
    { key: "t", label: "Tag", run: toBar("[popovertarget=popover-Tag]") },
    { key: "s", label: "Snooze alerts", run: toBar("[popovertarget^=popover-Snooze]") },
    { key: "Escape", label: "Clear selection", run: leave },
  ];

  /** Another page of issues is shown: of the same address, what is selected stays, as far as it is there. */
  function show(given) {
    if (given !== data) anchor = -1;
    data = given;
    ids = new Set(data.items.map(({ id }) => id).filter((id) => all || ids.has(id)));
    all &&= ids.size > 0;
  }

  return {
    atCursor, choose, choosePage, has, keys, show, subject, view,
    isCursor: (at) => at === cursor,
    reset: () => ([cursor, anchor, ids, all] = [-1, -1, new Set(), false]),
  };
};
