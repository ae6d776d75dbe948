// The page of releases: deploys, source maps, and where the sources can be looked at.

import deploys from "./deploys.js";
import maps from "./maps.js";
import settings from "./settings.js";

const LIMIT = 25;

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  const views = { deploys: deploys(ui), maps: maps(ui), settings: settings(ui) };

  return {
    async load({ page, maps: mapsPage }, { signal }) {
      const [known, stored, chosen, modules] = await Promise.all([
        api("deploys", { page, limit: LIMIT }, { signal }),
        api("source-maps", { page: mapsPage, limit: LIMIT }, { signal }),
        api("release-settings", {}, { signal }),
        api("modules", {}, { signal }),
      ]);
      return { known, stored, chosen: chosen.modules, modules: modules.data, links: views.settings.form(chosen) };
    },
    render: ({ known, stored, chosen, modules, links }) => html`<h1 tabindex="-1">Releases</h1>
      <div class="stack page-body">${views.deploys(known)} ${views.maps(stored)} ${views.settings.view(links, chosen, modules)}</div>`,
  };
};
