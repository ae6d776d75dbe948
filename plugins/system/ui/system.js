// What an installation says about itself, and how its applications, plugins and jobs are steered.

const GROUP = "System";

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  const page = (id, title, icon, order, letter) =>
    ui.page({ id, title, icon, order, letter, nav: true, group: GROUP, screen: () => import(`./screens/${id}.js`) });
  page("applications", "Applications", "layers", 500, "a");
  page("plugins", "Plugins", "plug", 510, "p");
  page("jobs", "Jobs", "run", 520, "j");
  page("health", "Health", "heart", 530, "h");
};
