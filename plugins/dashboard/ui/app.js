// The shell: loads the modules of all areas, then shows the page that the address names.

import { api, ApiError, followLinks, go, hasKey, link, onRoute, query as route, watch } from "./api.js";
import { html, keyed, render } from "./dom.js";
import { closeMenu, failed, frame, start } from "./frame.js";
import * as registry from "./registry.js";
import { ago, clock, fromClock, moment, stamp, toClock, zone } from "./clock.js";
import { bytes, level, number, plural, sentence, visible } from "./text.js";
import "./widgets/elements.js";
import { acting, pager, toast, widgetKit, widgets, withStyles } from "./widgets.js";

const root = document.getElementById("app");

/** What is on the screen: the address it stands for, its page and data, or the failure instead. */
let shown = { query: {}, page: null, data: null, error: null };
let applications = [];
/** The modules of the plugins that are switched on, while they are fetched. */
let optional = Promise.resolve();
/** The selected application, and the promise of what it allows. */
let context = null;
let loading = new AbortController();
let close = null;
/** The strip of jobs, from the first job on. */
let strip = null;

const reload = () => show({ scroll: scrollY });

/** What every plugin gets, next to the functions that register (schemas/dashboard.d.ts). */
const kit = {
  version: 1,
  html, keyed, render, api, watch, toast, pager, link, go,
  ago, bytes, clock, fromClock, level, moment, number, plural, sentence, stamp, toClock, zone,
  download: async (...given) => (await import("./download.js")).download(...given),
  act: acting(reload),
  follow: (...given) => void jobs(({ follow }) => follow(...given)),
  ...widgetKit(draw),
  slot: registry.slot,
  actions: registry.actionsOf,
  query: route,
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

const entries = JSON.parse(document.getElementById("boot").textContent).modules.map((entry, place) => ({ ...entry, place }));

let registering = Promise.resolve();

/** Fetch modules that were not fetched yet and let them register. */
function loadModules(wanted) {
  const batch = entries.filter(wanted);
  // Fetched side by side, registered in order: the network must not decide who comes first.
  for (const entry of batch) entry.fetching ??= import(new URL(entry.module, document.baseURI));
  return (registering = registerAll(batch, registering));
}

async function registerAll(batch, before) {
  const modules = await Promise.allSettled(batch.map(({ fetching }) => fetching));
  await before;
  modules.forEach(({ value, reason }, at) => {
    const { plugin, registered } = batch[at];
    if (registered) return;
    batch[at].registered = true;
    try {
      if (reason) throw reason;
      registry.register(batch[at], value.default, kit);
    } catch (error) {
      console.error(`plugin ${plugin}:`, error);
      toast(`The dashboard part of "${plugin}" failed: ${error.message}`, { error: true });
    }
  });
}

/** Use the strip of jobs; it is fetched with the first job. Unless `fetch`, only when it is there. */
async function jobs(use, { fetch = true } = {}) {
  if (fetch) strip ??= withStyles(import("./jobs.js"));
  if (strip) use(await strip);
}

/** Look for jobs that somebody started before this page was opened. */
async function findJobs() {
  const { data } = await api("jobs", { status: ["queued", "running"] }).catch(() => ({ data: [] })); // not allowed to see jobs: no strip
  for (const { id, created_by: person } of data) if (person) kit.follow(id);
}

const leaveJobs = () => void jobs(({ leave }) => leave(), { fetch: false });

/** What the selected application allows: its plugins, and the list to switch to. Not allowed to see it: nothing. */
async function loadContext(app) {
  const allowed = (promise) => promise.catch((error) => (error.status === 401 ? Promise.reject(error) : { data: [] }));
  const [plugins, list] = await Promise.all([allowed(api("plugins")), allowed(api("applications"))]);
  const off = plugins.data.filter(({ enabled }) => !enabled).map(({ id }) => id);
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

async function show({ scroll = 0 } = {}) {
  loading.abort();
  const turn = (loading = new AbortController());
  const query = route();
  root.setAttribute("aria-busy", "true");
  const next = { query, page: null, data: null, error: null };
  const opening = !shown.page && !shown.error;
  const found = () => (query.view ? registry.pageOf(query.view) : registry.navigation()[0]);
  const loaded = async (page) => (await registry.opened(page)).load?.(query, { signal: turn.signal });
  try {
    const allowed = contextOf(query.app ?? "");
    // At the start only pages of core areas are there, which nobody can switch off: a bare one need not wait.
    if (!opening || !found()?.bare) await allowed;
    next.page = found();
    // What plugins add is fetched while the page loads its data, and shows with it.
    [next.data] = await Promise.all([next.page && loaded(next.page), allowed.then(() => optional)]);
    if (found() !== next.page) {
      next.page = found();
      next.data = next.page && (await loaded(next.page));
    }
    if (!next.page) throw new ApiError(404, "There is no such page.");
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof ApiError)) console.error(error);
    next.error = error;
    // The frame around a failure has its pages, too.
    await context?.loading.catch(() => {});
    await optional;
  }
  if (turn.signal.aborted) return;
  root.removeAttribute("aria-busy");
  if (next.error?.status === 401) return signIn(next.error.message);
  closeMenu();
  const moved = next.page !== shown.page || query.id !== shown.query.id || query.app !== shown.query.app;
  const before = shown.query.app;
  close?.();
  registry.began(moved);
  shown = next;
  draw();
  scrollTo(0, scroll);
  close = (!next.error && next.page.open?.(query)) || null;
  if (moved && !opening) root.querySelector("h1")?.focus({ preventScroll: true });
  if (opening || query.app !== before) void findJobs();
}

function signIn(reason) {
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
  if (error) return failed(error, show);
  try {
    return page.render(data, query);
  } catch (problem) {
    console.error(problem);
    return failed(problem, show);
  }
}

function draw() {
  if (!shown.page && !shown.error) return;
  document.title = visible([shown.page?.heading?.(shown.data) ?? shown.page?.title, "snaglist"].filter(Boolean).join(" · "));
  render(frame(view()), root);
}

start({ shown: () => shown, applications: () => applications, application: kit.application, draw, signIn });
onRoute(show);
followLinks();
// Started here, so that it is on its way with the modules; a failure is met again, and shown, by `show`.
contextOf(route().app ?? "").catch(() => {});
if (route().view) widgets().catch(() => {});
void loadModules(({ core }) => core).then(() => show());
