// The tracker in the dashboard: a page; on an issue its item; making items, one or many.

import syncing from "./syncing.js";

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  const { html, api } = ui;
  const sync = syncing(ui);

  ui.page({ id: "tracker", title: "Tracker", icon: "sync", nav: true, order: 76, letter: "k", screen: () => import("./screens/tracker.js") });

  const create = (issues) => sync.run({ action: "create", ids: issues.map(({ id }) => id) });

  const item = ({ external_url: url, external_source: source, external_id: name, assignee }) => html`<p>${source}
    ${/^https?:/.test(url ?? "") ? html`<a href=${url} rel="noreferrer" target="_blank">${name}</a>` : name}</p>
    ${assignee && html`<p>Assigned there to ${assignee}</p>`}`;

  ui.panel("issue.side", {
    id: "tracker",
    title: "Tracker",
    load: () => api("tracker-settings"),
    render(issue, settings) {
      if (issue.external_id) return item(issue);
      if (!settings.enabled) return html`<p class="faint"><a href=${ui.link({ view: "tracker" })}>Set the tracker up</a></p>`;
      return html`<p><button class="button" type="button" @click=${() => create([issue])}>Create in ${settings.types.find(({ name }) => name === settings.provider)?.title ?? settings.provider}</button></p>`;
    },
  });

  ui.action("issues.bulk", { id: "tracker-create", label: "Create in tracker", run: create });
};
