// Shows the panels of a slot. Each panel has an element of its own, so a panel that fails harms nothing else.

import { api } from "./api.js";
import { html, render } from "./dom.js";
import { panelsOf } from "./registry.js";
import { widgets } from "./widgets.js";

/** Slots whose panels have no frame and no heading, and the class of their elements. */
const BARE = { "issues.columns": "cell", "chart.marks": "marks" };

let hosts = new Map();
/** How many times pages were loaded: what a panel loaded belongs to one of them. */
let pages = 0;

/** A page was loaded: its panels load, too. Of another page than before they start anew. */
export function began(another) {
  pages += 1;
  if (another) hosts = new Map();
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
  const host = document.createElement(BARE[name] ? "div" : "section");
  host.className = BARE[name] ?? "panel";
  host.dataset.panel = `${panel.plugin}.${panel.id}`;
  return host;
}

async function fill(host, panel, data) {
  const load = panel.load ?? (panel.api && ((subject) => api(panel.api, panel.query?.(subject))));
  const tabled = (answer, { tables }) => tables(() => {})(panel.columns ?? [], answer.data ?? answer.items ?? []);
  const turn = (host.turn ?? 0) + 1;
  host.turn = turn;
  // Once for each time that the page is loaded: to draw it again must not cost requests, nor what was typed into a form.
  if (host.pages !== pages) {
    host.pages = pages;
    host.loading = (async () => load?.(data))();
  }
  try {
    const [parts, loaded] = await Promise.all([widgets(), host.loading]);
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
