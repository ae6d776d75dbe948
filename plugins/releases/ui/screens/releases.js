// The page of releases: deploys, source maps, and where the sources can be looked at.

import deploys from "./deploys.js";
import maps from "./maps.js";
import settings from "./settings.js";

const LIMIT = 25;

export default (ui) => {
  const { html, api } = ui;
  const views = { deploys: deploys(ui), maps: maps(ui), settings: settings(ui) };

  return {
    load: ({ page, maps: mapsPage }, { signal }) => Promise.all([
      api("deploys", { page, limit: LIMIT }, { signal }),
      api("source-maps", { page: mapsPage, limit: LIMIT }, { signal }),
      api("release-settings", {}, { signal }),
    ]),
    render: ([allDeploys, allMaps, chosen]) => html`<h1 tabindex="-1">Releases</h1>
      <div class="stack page-body">${views.deploys(allDeploys)} ${views.maps(allMaps)} ${views.settings(chosen)}</div>`,
  };
};
