// The issues area in the dashboard: the list, the page of one issue, the overview, modules, and the way to the first log.

import list from "./list.js";

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  ui.page(list(ui));
  ui.page({ id: "issue", title: "Issue", parent: "issues", screen: () => import("./screens/issue.js") });
  ui.page({ id: "overview", title: "Overview", icon: "chart", nav: true, order: 20, letter: "o", screen: () => import("./screens/overview.js") });
  ui.page({ id: "modules", title: "Modules", icon: "box", nav: true, order: 330, group: "Set up", letter: "d", screen: () => import("./screens/modules.js") });
  ui.page({ id: "setup", title: "Add logs", parent: "sources", screen: () => import("./screens/setup.js") });
  ui.keys([{ key: "g i", label: "Go to Issues", run: () => ui.go({}) }]);
  ui.find((text) => [
    /^#?\d+$/.test(text) && { label: `Open issue ${text.replace("#", "")}`, always: true, run: () => ui.go({ view: "issue", id: text.replace("#", "") }) },
    text && { label: `Search issues for “${text}”`, always: true, run: () => ui.go({ q: text }) },
    { label: "Add logs", run: () => ui.go({ view: "setup" }) },
  ].filter(Boolean));
};
