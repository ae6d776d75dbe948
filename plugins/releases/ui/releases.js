// Releases in the dashboard: a page, and what an issue was seen in.

const SHOWN = 8;
const DAYS = 30; // no chart shows more
const LATE = 0.85; // from here on a name stands before its mark

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  const { html, api, keyed } = ui;

  ui.page({ id: "releases", title: "Releases", icon: "flag", nav: true, order: 75, screen: () => import("./screens/releases.js") });

  const share = (at, { from, to }) => (+ui.moment(at) - +ui.moment(from)) / (+ui.moment(to) - +ui.moment(from));
  const inside = (at, { from, to }) => from <= at && at < to;

  const mark = ({ version, environment, deployed_at: at }, ends) => html`<a class=${share(at, ends) > LATE ? "mark mark-end" : "mark"} draggable="false"
    href=${ui.link({ view: "overview", since: at })} title=${`${version} to ${environment}, ${ui.clock(at, "exact")}: what is new since then`}
    vars=${{ "--at": `${(100 * share(at, ends)).toFixed(2)}%` }}><span>${version}</span></a>`;

  ui.panel("chart.marks", {
    id: "deploys",
    load: () => api("deploys", { limit: 1, days: DAYS }),
    render: (ends, { markers }) => keyed(markers.filter(({ deployed_at: at }) => inside(at, ends)), (_, at) => at, (one) => mark(one, ends)),
  });

  const release = ({ release: name, occurrences, last_seen: last }) => html`<li><span class="mono">${name}</span>
    <span class="faint">${ui.plural(occurrences, "event")}, <ui-ago at=${last}></ui-ago></span></li>`;

  ui.panel("issue.side", {
    id: "releases",
    title: "Seen in releases",
    load: (issue) => api("issue-releases", { id: issue.id }),
    render: (_issue, { releases, first_release: first, last_release: last, source_link: link }) => html`
      ${releases.length === 0 && html`<p class="faint">No event names its release.</p>`}
      ${releases.length > 0 && html`<p>First in <b class="mono">${first}</b>, last in <b class="mono">${last}</b></p>
        <ul class="plain">${keyed(releases.slice(0, SHOWN), ({ release: name }) => name, release)}</ul>
        ${releases.length > SHOWN && html`<p class="faint">and ${ui.number(releases.length - SHOWN)} more</p>`}`}
      ${link && html`<p><a href=${link} rel="noreferrer" target="_blank">Source of the culprit</a></p>`}`,
  });
};
