// What areas and plugins add to the dashboard: pages, actions, shortcuts, and panels, which are shown from here.

import { api } from "./api.js";
import { html, render } from "./dom.js";
import { styles, widgets } from "./widgets.js";

export const SLOTS = [
  "issue.side", "issue.main", "issue.actions", "issues.columns", "issues.none", "issues.bulk", "chart.marks", "overview", "settings", "setup",
];
/** Its panels give data: pages draw it with their charts. */
const MARKS = "chart.marks";
const ACTION_SLOTS = ["issue.actions", "issues.bulk"];
const ID = /^[a-z][a-z0-9_-]{0,39}$/;

const pages = new Map();
const panels = [];
const actions = [];
const shortcuts = [];
const finders = [];
let disabled = new Set();

// Plugins may be switched on in any order: it must not decide who comes first.
const byOrder = (a, b) => (a.order ?? 100) - (b.order ?? 100) || a.place - b.place;
const enabled = ({ plugin }) => !disabled.has(plugin);

/** Let one plugin register. It adds everything or, when it throws, nothing. `place` is its place among all plugins. */
export function register({ plugin, place, core }, setup, kit) {
  const draft = { pages: [], panels: [], actions: [], shortcuts: [], finders: [] };
  const owned = (item) => ({ ...item, plugin, place, core });
  const check = (item, known) => {
    if (!ID.test(item.id ?? "")) throw new Error(`"${item.id}" is not an id`);
    const other = known.find(({ id, slot }) => id === item.id && slot === item.slot);
    if (other) throw new Error(`"${item.id}" is registered already by ${other.plugin}`);
  };
  const inSlot = (slot, item, slots, known) => {
    if (!slots.includes(slot)) throw new Error(`there is no slot "${slot}" for this`);
    check({ ...item, slot }, known);
  };
  const ui = {
    ...kit,
    plugin,
    page(page) {
      check(page, [...pages.values(), ...draft.pages]);
      if (!page.render && !page.screen) throw new Error(`the page "${page.id}" has neither "render" nor "screen"`);
      draft.pages.push(owned({ ...page, ui }));
    },
    panel(slot, panel) {
      inSlot(slot, panel, SLOTS, [...panels, ...draft.panels]);
      if (slot === MARKS && !panel.load) throw new Error(`the panel "${panel.id}" of "${MARKS}" has no "load", which gives the marks`);
      draft.panels.push(owned({ ...panel, slot }));
    },
    action(slot, action) {
      inSlot(slot, action, ACTION_SLOTS, [...actions, ...draft.actions]);
      draft.actions.push(owned({ ...action, slot }));
    },
    keys: (bindings) => draft.shortcuts.push(...bindings.map(owned)),
    find: (offer) => draft.finders.push(owned({ offer })),
    findLater: (ask) => draft.finders.push(owned({ ask })),
  };
  setup(ui);
  draft.pages.forEach((page) => pages.set(page.id, page));
  panels.push(...draft.panels);
  actions.push(...draft.actions);
  shortcuts.push(...draft.shortcuts);
  finders.push(...draft.finders);
}

/** Hide what these plugins added: they are switched off in the selected application. */
export function disable(plugins) {
  disabled = new Set(plugins);
}

/** The page of an id, if it shows in this application. */
export const pageOf = (id) => [pages.get(id)].find((page) => page && enabled(page));

/** The plugin that has the page of an id, whether it is switched on or not. */
export const ownerOf = (id) => pages.get(id)?.plugin;

/** The page with its screen and what it is drawn with, which are fetched when they are needed for the first time. */
export async function opened(page) {
  // A bare page of a core area has its styles in the sheet of the first page.
  const needed = !page.bare ? widgets() : !page.core && styles();
  const [screen] = await Promise.all([page.render ? null : page.screen(), needed]);
  if (screen && !page.render) Object.assign(page, screen.default(page.ui));
  return page;
}

/** What a plugin adds, as texts to show: `{ pages, panels, actions }`. */
export const addedBy = (plugin) => ({
  pages: [...pages.values()].filter((page) => page.plugin === plugin).map(({ title }) => title),
  panels: panels.filter((panel) => panel.plugin === plugin).map(({ title, slot }) => title ?? slot),
  actions: actions.filter((action) => action.plugin === plugin).map(({ label }) => label),
});

/** The pages of the rail in order. */
export const navigation = () => [...pages.values()].filter((page) => page.nav && enabled(page)).sort(byOrder);

/** The panels of a slot in order. */
export const panelsOf = (slot) => panels.filter((panel) => panel.slot === slot && enabled(panel)).sort(byOrder);

/** The actions of a slot in order. */
export const actionsOf = (slot) => actions.filter((action) => action.slot === slot && enabled(action)).sort(byOrder);

/** Shortcuts that hold on every page. */
export const shortcutsOf = () => shortcuts.filter(enabled);

/** What areas offer in the command palette for a text. */
export const offersFor = (text) => finders.filter(enabled).flatMap(({ offer }) => offer?.(text) ?? []);

/** What areas offer that has to be asked for; one that fails offers nothing. */
export async function offersLater(text, signal) {
  const asked = finders.filter(({ ask, ...finder }) => ask && enabled(finder)).map(async ({ ask }) => ask(text, { signal }));
  return (await Promise.allSettled(asked)).flatMap(({ value }) => value ?? []);
}

// -- panels: each has an element of its own, so one that fails harms nothing else

/** Slots whose panels have no frame and no heading, and the class of their elements. */
const BARE = { "issues.columns": "cell", "issues.none": "toolbar" };

let hosts = new Map();
/** How many times pages were loaded: what a panel loaded belongs to one of them. */
let loads = 0;

/** A page was loaded: its panels load, too. Of another page than before they start anew. */
export function began(another) {
  loads += 1;
  marked = new Map();
  if (another) hosts = new Map();
}

let marked = new Map();

/** What panels mark between two times, for the charts of a page; asked once for each time that the page is loaded. */
export function marks({ from, to }) {
  const key = `${from} ${to}`;
  if (!marked.has(key)) marked.set(key, Promise.all(panelsOf(MARKS).map((panel) => marksOf(panel, { from, to }))).then((lists) => lists.flat()));
  return marked.get(key);
}

/** A panel that fails marks nothing, and harms no chart. */
async function marksOf(panel, range) {
  try {
    const found = await panel.load(range);
    if (!Array.isArray(found)) throw new Error(`"load" has to give a list of marks`);
    return found;
  } catch (error) {
    console.error(`panel ${panel.plugin}.${panel.id}:`, error);
    return [];
  }
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
  if (host.loads !== loads) {
    host.loads = loads;
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
