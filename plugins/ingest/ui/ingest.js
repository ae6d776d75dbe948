// HTTP ingest in the dashboard: how to send to this very deployment, the key, and whether anything came in.

import recipes from "./recipes.js";

const SECONDS = 5;

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  const { html, api } = ui;
  let current = null;

  const received = ({ last_24h: day }) =>
    day.accepted + day.duplicate + day.invalid + day.rate_limited > 0;

  const snippet = ({ title, text }) => html`<section class="block"><h3>${title}</h3>${ui.snippet(text, title)}</section>`;

  const state = (settings) => received(settings)
    ? html`<p role="status">In the last 24 hours: ${ui.number(settings.last_24h.accepted)} stored,
        ${ui.number(settings.last_24h.duplicate)} sent again, ${ui.number(settings.last_24h.invalid)} not understood,
        ${ui.number(settings.last_24h.rate_limited)} over the rate limit.</p>`
    : html`<p class="live" role="status"><span class="pulse"></span> Waiting for the first event …</p>`;

  const change = (body, done) => ui.act(() => api.post("ingest-settings", body), done);

  const renew = () => ui.confirm({
    title: "Make a new ingest key",
    text: "The old one works for 60 more minutes: time to give the new one to whatever sends.",
    action: "Make a new key",
    run: () => change({ action: "regenerate", grace_minutes: 60 }, "The key is a new one."),
  });

  const key = (settings) => html`<section class="card block">
    <h2>Key</h2>
    <p><code>${settings.key ?? settings.key_hint ?? "none yet"}</code>
      ${settings.key && html`<ui-copy text=${settings.key}></ui-copy>`}</p>
    ${settings.previous_key_until && html`<p>The previous key works until ${ui.clock(settings.previous_key_until, "exact")}.</p>`}
    ${settings.key && html`<p><button class="button" type="button" @click=${renew}>New key …</button></p>
      <p><label class="check"><input type="checkbox" .checked=${settings.allow_query_key} @change=${({ target }) =>
        void change({ action: "configure", allow_query_key: target.checked }, "Saved.")}>
        Accept the key in the address (web pages need it)</label></p>`}
    <p>At most ${ui.number(settings.rate_limit.max_events)} events in
      ${ui.number(settings.rate_limit.window_seconds)} seconds.</p>
  </section>`;

  ui.page({
    id: "ingest",
    title: "Sending events",
    icon: "send",
    nav: true,
    order: 305,
    group: "Set up",
    letter: "s",
    async load(_query, { signal }) {
      current = await api("ingest-settings", {}, { signal });
      return current;
    },
    render: (settings) => html`<h1 tabindex="-1">Sending events</h1>
      <div class="stack page-body">${state(settings)}
        ${key(settings)}
        <section class="card block"><h2>How to send</h2>${recipes(settings).map(snippet)}</section></div>`,
    open: () => ui.watch("ingest-settings", {}, (settings) => {
      Object.assign(current, settings);
      ui.refresh();
    }, SECONDS),
  });

  ui.panel("setup", {
    id: "ingest",
    title: "Send events",
    order: 30,
    load: () => api("ingest-settings"),
    render: (_application, settings) => html`<p>Applications, web pages and log shippers send what happens over HTTP.</p>${ui.snippet(recipes(settings)[0].text, recipes(settings)[0].title)}
      <p><a href=${ui.link({ view: "ingest" })}>More ways to send</a></p>`,
  });
};
