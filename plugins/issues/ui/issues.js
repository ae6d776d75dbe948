// The issues area in the dashboard: the list, the page of one issue, the overview, modules, and the way to the first log.

import list from "./list.js";
import { STATUSES } from "./search.js";

const FOUND = 5; // issues that the command palette offers

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  ui.page(list(ui));
  ui.page({ id: "issue", title: "Issue", parent: "issues", screen: () => import("./screens/issue.js") });
  ui.page({ id: "overview", title: "Overview", icon: "chart", nav: true, order: 20, letter: "o", screen: () => import("./screens/overview.js") });
  ui.page({ id: "modules", title: "Modules", icon: "box", nav: true, order: 330, group: "Set up", letter: "d", screen: () => import("./screens/modules.js") });
  ui.page({ id: "setup", title: "Add logs", parent: "sources", screen: () => import("./screens/setup.js") });
  ui.find((text) => [
    /^#?\d+$/.test(text) && { label: `Open issue ${text.replace("#", "")}`, always: true, run: () => ui.go({ view: "issue", id: text.replace("#", "") }) },
    text && { label: `Search issues for “${text}”`, always: true, run: () => ui.go({ q: text, status: "all" }) },
    { label: "Add logs", run: () => ui.go({ view: "setup" }) },
  ].filter(Boolean));
  ui.findLater(async (text, options) => (await ui.api("errors", { q: text, limit: FOUND }, options)).data.map((issue) => ({
    label: issue.title, hint: `${ui.level(issue.severity)}, ${STATUSES[issue.status]}`, run: () => ui.go({ view: "issue", id: issue.id }),
  })));
  let news = null;
  document.addEventListener("visibilitychange", async () => {
    if (document.hidden) news ??= (await import("./screens/news.js")).default(ui);
    news?.();
  });
};
