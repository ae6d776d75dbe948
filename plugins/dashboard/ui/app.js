// The shell: loads the modules of all areas, then shows the page that the address names.

import { api, ApiError, encode, followLinks, go, hasKey, link, noPage, onRoute, query as route, reached, watch } from "./api.js";
import { begin, onReturn } from "./connection.js";
import { html, keyed, render } from "./dom.js";
import { closeMenu, frame, start } from "./frame.js";
import fetchModules from "./modules.js";
import * as registry from "./registry.js";
import { ago, clock, fromClock, moment, stamp, toClock, zone } from "./clock.js";
import { bytes, level, number, plural, sentence, visible } from "./text.js";
import "./widgets/elements.js";
import { acting, findJobs, follow, leaveJobs, pager, toast, widgetKit, widgets, withStyles } from "./widgets.js";

const root = document.getElementById("app");
const AT_ONCE = 150; // milliseconds that nobody takes for waiting
/** What is on the screen: the address it stands for, its page and data, or the failure instead. */
let shown = { query: {}, page: null, data: null, error: null };
let applications = [], plugins = [];
/** The modules of the plugins that are switched on, while they are fetched. */
let optional = Promise.resolve();
/** The selected application, and the promise of what it allows. */
let context = null;
let loading = new AbortController(), close = null;
/** What shows in place of a page that failed; fetched behind the first page, as it cannot be when nothing answers. */
let failed = ({ message }) => html`<div class="card notice" role="alert"><h1 tabindex="-1">${message}</h1></div>`;
const needFailed = () => import("./failure.js").then((module) => ({ failed } = module)).catch(() => {});
/** The page that is being opened, once that takes a while; whether what is shown could not be loaded anew; what the tab counts. */
let opening = null, unfinished = false, waiting = 0;
const unready = (error) => [0, 503].includes(error?.status); // no answer, or that of a service which cannot now
const reload = () => show({ scroll: scrollY });

/** What every plugin gets, next to the functions that register (schemas/dashboard.d.ts). */
const kit = {
  version: 2,
  html, keyed, render, api, watch, toast, pager, link, go,
  ago, bytes, clock, fromClock, level, moment, number, plural, sentence, stamp, toClock, zone,
  download: async (...given) => (await import("./download.js")).download(...given),
  act: acting(reload),
  follow: (...given) => void follow(...given),
  ...widgetKit(draw),
  slot: registry.slot,
  marks: registry.marks,
  actions: registry.actionsOf,
  query: route,
  badge,
  signedIn: hasKey,
  application: () => applications.find(({ id }) => id === route().app) ?? applications[0] ?? null,
  refresh: draw,
  reload,
  /** Fetch plugins and applications again as well: one of them was changed. */
  restart: () => {
    context = null;
    return reload();
  },
  added: async (plugin) => {
    await loadModules((entry) => entry.plugin === plugin);
    return registry.addedBy(plugin);
  },
};
const loadModules = (wanted) => fetchModules(wanted, kit);

/** What the selected application allows: its plugins, and the list to switch to. Not allowed to see it: nothing. */
async function loadContext(app) {
  const allowed = (promise) => promise.catch((error) => (error.status === 401 ? Promise.reject(error) : { data: [] }));
  const [known, list] = await Promise.all([allowed(api("plugins")), allowed(api("applications"))]);
  plugins = known.data;
  const off = plugins.filter(({ enabled }) => !enabled).map(({ id }) => id);
  registry.disable(off);
  applications = list.data;
  optional = loadModules(({ core, plugin }) => !core && !off.includes(plugin));
}

/** Fetched once while an application stays selected; after a failure again. */
function contextOf(app) {
  if (context?.app === app) return context.loading;
  if (context) leaveJobs();
  const mine = (context = { app, loading: loadContext(app) });
  mine.loading.catch(() => {
    if (context === mine) context = null;
  });
  return mine.loading;
}

/** Show in the browser's tab that so many new things wait. */
async function badge(count) {
  if (count === waiting) return;
  waiting = count;
  draw();
  (await import("./badge.js")).drawIcon(count);
}

/** Say which page is being opened, when it does not come at once. */
function announce(page) {
  if (!shown.page || !page || page === shown.page) return;
  opening = page;
  draw();
}

/** What is readable stays when no answer comes for more of it, or for it anew. */
function stay(error, query) {
  unfinished = true;
  if (encode(query) === encode(shown.query)) return void (error.status && toast(error.message, { error: true })); // no answer says it above
  history.replaceState(history.state, "", encode(shown.query));
  toast(error.message, { error: true });
}

async function show({ scroll = 0 } = {}) {
  loading.abort();
  const turn = (loading = new AbortController());
  const query = route();
  root.setAttribute("aria-busy", "true");
  const next = { query, page: null, data: null, error: null };
  const first = !shown.page && !shown.error;
  const found = () => (query.view ? registry.pageOf(query.view) : registry.navigation()[0]);
  const loaded = async (page) => (await registry.opened(page)).load?.(query, { signal: turn.signal });
  const slow = setTimeout(() => announce(found()), AT_ONCE);
  turn.signal.addEventListener("abort", () => clearTimeout(slow));
  try {
    const allowed = contextOf(query.app ?? "");
    // At the start only pages of core areas are there, which nobody can switch off: a bare one need not wait.
    if (!first || !found()?.bare) await allowed;
    next.page = found();
    // What plugins add is fetched while the page loads its data, and shows with it.
    [next.data] = await Promise.all([next.page && loaded(next.page), allowed.then(() => optional)]);
    if (found() !== next.page) {
      next.page = found();
      next.data = next.page && (await loaded(next.page));
    }
    if (!next.page) {
      await loadModules(() => true); // it may be one of a plugin that is off here
      throw noPage(plugins.find(({ id }) => id === registry.ownerOf(query.view)));
    }
  } catch (error) {
    if (error.name === "AbortError") return;
    next.error = reached(error);
    if (!(next.error instanceof ApiError)) console.error(error);
    // The frame around a failure has its pages, too.
    await context?.loading.catch(() => {});
    await Promise.all([optional, needFailed()]);
  }
  if (turn.signal.aborted) return;
  clearTimeout(slow);
  opening = null;
  root.removeAttribute("aria-busy");
  if (next.error?.status === 401) return signIn(next.error.message);
  closeMenu();
  const moved = next.page !== shown.page || query.id !== shown.query.id || query.app !== shown.query.app;
  if (!moved && !shown.error && unready(next.error)) return stay(next.error, query);
  const before = shown.query.app;
  unfinished = false;
  close?.();
  registry.began(moved);
  shown = next;
  draw();
  scrollTo(0, scroll);
  close = (!next.error && next.page.open?.(query)) || null;
  if (moved && !first) root.querySelector("h1")?.focus({ preventScroll: true });
  if (first) void needFailed();
  if (first || query.app !== before) void findJobs();
}

function signIn(reason) {
  loading.abort();
  close?.();
  close = null;
  shown = { query: {}, page: null, data: null, error: null };
  context = null;
  leaveJobs();
  render(null, root); // nothing stays on the screen while the gate is fetched
  void withStyles(import("./gate.js")).then(({ gate }) => gate(root, () => show(), reason));
}

function view() {
  const { page, data, query, error } = shown;
  const ways = { again: show, restart: kit.restart };
  try {
    return error ? failed(error, ways) : page.render(data, query);
  } catch (problem) {
    console.error(problem);
    return failed(problem, ways);
  }
}

function draw() {
  if (!shown.page && !shown.error) return;
  const title = visible([shown.page?.heading?.(shown.data) ?? shown.page?.title, "snaglist"].filter(Boolean).join(" · "));
  document.title = waiting ? `(${waiting}) ${title}` : title;
  render(frame(view()), root);
}

start({ shown: () => shown, opening: () => opening, applications: () => applications, application: kit.application, draw, signIn });
onRoute(show);
followLinks();
begin(draw);
// A page that failed because nothing answered comes by itself.
onReturn(() => (unfinished || unready(shown.error)) && void reload());
// Started here, so that it is on its way with the modules; a failure is met again, and shown, by `show`.
contextOf(route().app ?? "").catch(() => {});
if (route().view) widgets().catch(() => {});
void loadModules(({ core }) => core).then(() => show());
