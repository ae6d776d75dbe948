// Releases in the dashboard: a page, and what an issue was seen in.

const SHOWN = 8;
const DAY = 86_400_000;
const MOST_DAYS = 3650; // that marks are asked for

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  const { html, api, keyed } = ui;

  ui.page({ id: "releases", title: "Releases", icon: "flag", nav: true, order: 75, letter: "v", screen: () => import("./screens/releases.js") });

  const mark = ({ version, environment, deployed_at: at }) => ({
    at,
    text: version,
    title: `${version} to ${environment}, ${ui.clock(at, "exact")}: what is new since then`,
    href: ui.link({ view: "overview", since: at }),
  });

  ui.panel("chart.marks", {
    id: "deploys",
    async load({ from }) {
      const days = Math.min(MOST_DAYS, Math.max(1, Math.ceil((Date.now() - +ui.moment(from)) / DAY)));
      return (await api("deploys", { limit: 1, days })).markers.map(mark);
    },
  });

  const release = ({ release: name, occurrences, last_seen: last }) => html`<li><span class="mono">${name}</span>
    <span class="faint">${ui.plural(occurrences, "event")}, <ui-ago at=${last}></ui-ago></span></li>`;

  ui.panel("issue.side", {
    id: "releases",
    title: "Seen in releases",
    load: (issue) => api("issue-releases", { id: issue.id }),
    render: (_issue, { releases, first_release: first, last_release: last, source_link: link }) => html`
      ${releases.length === 0 && html`<p class="faint">No release information.</p>`}
      ${releases.length > 0 && html`<p>First in <b class="mono">${first}</b>, last in <b class="mono">${last}</b></p>
        <ul class="plain">${keyed(releases.slice(0, SHOWN), ({ release: name }) => name, release)}</ul>
        ${releases.length > SHOWN && html`<p class="faint">and ${ui.number(releases.length - SHOWN)} more</p>`}`}
      ${link && html`<p><a href=${link} rel="noreferrer" target="_blank">Source code of the failing line</a></p>`}`,
  });
};
