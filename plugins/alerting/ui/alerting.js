// Alerts in the dashboard.

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  ui.page({ id: "alerts", title: "Alerts", icon: "bell", nav: true, order: 310, group: "Set up", letter: "r", screen: () => import("./screens/alerts.js") });
};
