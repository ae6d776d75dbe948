// Shows the panels of a slot. Each panel has an element of its own, so a panel that fails harms nothing else.

import { api } from "./api.js";
import { html, render } from "./dom.js";
import { panelsOf } from "./registry.js";
import { widgets } from "./widgets.js";

let hosts = new Map();

/** Forget the panels of the page before. */
export function forget() {
  hosts = new Map();
}

/** The panels of a slot for `data` (an issue, …), as elements to put into a template. */
export function slot(name, data) {
  return panelsOf(name).map((panel) => {
    const place = [name, panel.plugin, panel.id, data?.id].join("|");
    if (!hosts.has(place)) hosts.set(place, hostOf(panel, name));
    const host = hosts.get(place);
    fill(host, panel, data);
    return host;
  });
}

function hostOf(panel, name) {
  const host = document.createElement(name === "issues.columns" ? "div" : "section");
  host.className = name === "issues.columns" ? "cell" : "panel";
  host.dataset.panel = `${panel.plugin}.${panel.id}`;
  return host;
}

async function fill(host, panel, data) {
  const load = panel.load ?? (panel.api && ((subject) => api(panel.api, panel.query?.(subject))));
  const tabled = (answer, { tables }) => tables(() => {})(panel.columns ?? [], answer.data ?? answer.items ?? []);
  const turn = (host.turn ?? 0) + 1;
  host.turn = turn;
  try {
    const parts = await widgets();
    const loaded = load ? await load(data) : undefined;
    if (host.turn === turn) show(host, panel, panel.render ? panel.render(data, loaded) : tabled(loaded, parts));
  } catch (error) {
    if (host.turn === turn) fail(host, panel, error);
  }
}

function show(host, panel, content) {
  const heading = panel.title && host.tagName === "SECTION" ? html`<h2>${panel.title}</h2>` : null;
  render(html`${heading}${content}`, host);
}

function fail(host, panel, error) {
  console.error(`panel ${panel.plugin}.${panel.id}:`, error);
  // What the panel drew half is not to be trusted: start over.
  delete host.renderSlot;
  show(host, panel, html`<p class="faint">This panel failed: ${error.message}</p>`);
}
