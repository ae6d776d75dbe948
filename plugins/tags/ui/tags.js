// Tags in the dashboard.

export default (ui) => {
  ui.page({ id: "tags", title: "Tags", icon: "tag", nav: true, order: 320, group: "Set up", letter: "t", screen: () => import("./screens/tags.js") });
};
