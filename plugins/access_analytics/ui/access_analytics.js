// Access analytics in the dashboard.

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  ui.page({ id: "access", title: "Access", icon: "globe", nav: true, order: 60, letter: "x", screen: () => import("./screens/access.js") });
};
