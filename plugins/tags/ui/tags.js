// Tags in the dashboard.

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  ui.page({ id: "tags", title: "Tags", icon: "tag", nav: true, order: 320, group: "Set up", letter: "t", screen: () => import("./screens/tags.js") });
};
