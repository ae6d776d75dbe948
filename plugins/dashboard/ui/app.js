// The shell: loads the modules of all areas, then shows the page that the address names.

import { api, ApiError, hasKey, keepKey, watch } from "./api.js";
import { visible } from "./direction.js";
import { html, keyed, render } from "./dom.js";
import * as format from "./format.js";
import * as keys from "./keys.js";
import { pager } from "./pager.js";
import { began, slot } from "./panels.js";
import * as registry from "./registry.js";
import * as routes from "./routes.js";
import { acting, toast } from "./toasts.js";
import "./widgets/elements.js";
import { styles, widgetKit, widgets } from "./widgets.js";

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
let menuOpen = false;
/** The strip of jobs, from the first job on. */
let strip = null;

const reload = () => show({ scroll: scrollY });

/** What every plugin gets, next to the functions that register (schemas/dashboard.d.ts). */
const kit = {
  version: 1,
  html,
  keyed,
  api,
  download: async (...given) => (await import("./download.js")).download(...given),
  watch,
  toast,
  act: acting(reload),
  follow: (...given) => void jobs(({ follow }) => follow(...given)),
  ...widgetKit(draw),
  pager,
  slot,
  actions: registry.actionsOf,
  query: routes.query,
  link: routes.link,
  go: routes.go,
  signedIn: hasKey,
  application: () => applications.find(({ id }) => id === routes.query().app) ?? applications[0] ?? null,
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
  ...format,
};

const entries = JSON.parse(document.getElementById("boot").textContent).modules.map((entry, place) => ({ ...entry, place }));

let registering = Promise.resolve();

/** The module of an entry: a file, or a part of the joined one. */
async function fetched({ module, part }) {
  const file = await import(new URL(module, document.baseURI));
  return part ? file[part] : file;
}

/** Fetch modules that were not fetched yet and let them register. */
function loadModules(wanted) {
  const batch = entries.filter(wanted);
  // Fetched side by side, registered in order: the network must not decide who comes first.
  for (const entry of batch) entry.fetching ??= fetched(entry);
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

/** A module whose styles are not those of the first page. */
const withStyles = async (module) => (await Promise.all([module, styles()]))[0];

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
  const query = routes.query();
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
  menuOpen = false;
  const moved = next.page !== shown.page || query.id !== shown.query.id || query.app !== shown.query.app;
  const before = shown.query.app;
  close?.();
  began(moved);
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
  if (error) return failed(error);
  try {
    return page.render(data, query);
  } catch (problem) {
    console.error(problem);
    return failed(problem);
  }
}

const failed = (error) => html`<div class="card notice" role="alert">
  <h1 tabindex="-1">${{ 403: "Not allowed", 404: "Not found" }[error.status] ?? "This did not work"}</h1>
  <p>${error.message}</p>
  <p><button class="button" @click=${() => show()}>Try again</button> <a href=${routes.link({})}>Go to the start</a></p>
</div>`;

function draw() {
  if (!shown.page && !shown.error) return;
  document.title = visible([shown.page?.heading?.(shown.data) ?? shown.page?.title, "snaglist"].filter(Boolean).join(" · "));
  render(frame(), root);
}

const frame = () => html`<div class="frame">
  <a class="skip" href="#page" @click=${skip}>Skip to content</a>
  <header class="rail">
    <p class="brand"><a href=${routes.link({})}>snaglist</a></p>
    ${applications.length > 0 && switcher()}
    <button class="button rail-menu" type="button" aria-expanded=${menuOpen ? "true" : "false"} aria-controls="pages" @click=${toggleMenu}>
      <ui-icon name="list"></ui-icon> Pages</button>
    <nav aria-label="Pages" id="pages" class=${menuOpen ? "open" : null}>
      ${keyed(groups(), ([name]) => name, ([name, pages]) => html`${name && html`<p class="rail-group">${name}</p>`}
        ${keyed(pages, ({ id }) => id, navigationLink)}`)}
    </nav>
    <div class="tools">
      <button class="button button-plain" title="Commands (Ctrl K)" aria-label="Commands" @click=${showPalette}>
        <ui-icon name="search"></ui-icon>
      </button>
      <button class="button button-plain" title="Light or dark" aria-label="Switch between light and dark" @click=${switchTheme}>
        <ui-icon name="contrast"></ui-icon>
      </button>
      <button class="button button-plain" title="Keyboard (?)" aria-label="Keyboard shortcuts" @click=${showHelp}>
        <ui-icon name="help"></ui-icon>
      </button>
      ${hasKey() && html`<button class="button button-plain" title="Forget the key" aria-label="Sign out" @click=${signOut}>
        <ui-icon name="key"></ui-icon>
      </button>`}
    </div>
  </header>
  <main class="page" id="page" tabindex="-1">${view()}</main>
</div>`;

/** The pages of the rail by their group, in the order in which the groups come first. */
const groups = () => [...Map.groupBy(registry.navigation(), ({ group }) => group ?? "")];

function toggleMenu() {
  menuOpen = !menuOpen;
  draw();
}

const navigationLink = (page) => html`<a
  href=${routes.link(page.id === registry.navigation()[0].id ? {} : { view: page.id })}
  aria-current=${(shown.page?.parent ?? shown.page?.id) === page.id ? "page" : null}
><ui-icon name=${page.icon ?? "plug"}></ui-icon> <span>${page.title}</span></a>`;

const switcher = () => html`<label class="switcher">
  <span class="off-screen">Application</span>
  <select .value=${kit.application().id} @change=${switchApplication}>
    ${keyed(applications, ({ id }) => id, ({ id, name }) => html`<option value=${id}>${name}</option>`)}
  </select>
</label>`;

function switchApplication(event) {
  const { value } = event.target;
  const page = shown.page?.parent ?? shown.page?.id;
  const home = page === registry.navigation()[0].id;
  routes.go({ app: value === applications[0].id ? null : value, view: home ? null : page });
}

function skip(event) {
  event.preventDefault(); // the address stays what it is: it names the view
  document.getElementById("page").focus();
}

/** Show the other theme than the one that shows, and keep it in this browser. */
function switchTheme() {
  const { dataset } = document.documentElement;
  const dark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("snaglist.theme", dataset.theme);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
}

function signOut() {
  keepKey("");
  signIn();
}

/** `g t` and the like, of the pages that name a letter. */
const journeys = () => registry.navigation().filter(({ letter }) => letter)
  .map(({ id, title, letter }) => ({ key: `g ${letter}`, label: `Go to ${title}`, run: () => routes.go({ view: id }) }));

const bindings = () => [
  ...journeys(),
  ...registry.shortcutsOf(),
  ...(shown.error ? [] : (shown.page?.keys ?? [])),
  { key: "?", label: "This help", run: showHelp },
];

const showHelp = async () => (await withStyles(import("./help.js"))).help([
  ...bindings(),
  { key: "Ctrl K", label: "Commands: go anywhere, do anything" },
  { key: "Esc", label: "Leave a field, close a dialog" },
]);

/** Its dialog and field are there at once, so that what is typed while it is fetched, Enter too, is not lost. */
async function showPalette() {
  if (document.querySelector("dialog[open]")) return;
  const dialog = Object.assign(document.createElement("dialog"), { className: "palette", ariaLabel: "Commands" });
  const field = Object.assign(document.createElement("input"), { ariaLabel: "Command" });
  let entered = false;
  field.addEventListener("keydown", ({ key }) => (entered ||= key === "Enter"));
  dialog.append(field);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  const { palette } = await withStyles(import("./palette.js"));
  palette(dialog, { journeys, bindings, applications }, entered);
}

routes.onRoute(show);
routes.start();
keys.start(bindings, showPalette);
// Started here, so that it is on its way with the modules; a failure is met again, and shown, by `show`.
contextOf(routes.query().app ?? "").catch(() => {});
if (routes.query().view) widgets().catch(() => {});
// Not awaited here: the core areas are in the file that this module is in, which is there when all of it has run.
void loadModules(({ core }) => core).then(() => show());
