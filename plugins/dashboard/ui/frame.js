// The frame around each page: the rail with the pages, the tools, and the keyboard.

import { go, hasKey, keepKey, link, query } from "./api.js";
import { clock, stamp, switchClock, zone } from "./clock.js";
import { outage, tryNow } from "./connection.js";
import { html, keyed } from "./dom.js";
import { navigation, shortcutsOf } from "./registry.js";
import { withStyles } from "./widgets.js";
import { redrawTimes } from "./widgets/elements.js";

const EDITABLE = "input:not([type=checkbox]):not([type=radio]), select, textarea, [contenteditable]";
const PRESSABLE = "a, button, input, select, textarea, summary";
const PAIR_TIME = 1000;

/** What the frame asks and does: `{ shown, opening, applications, application, draw, signIn }`, functions all. */
let shell = null;
let menuOpen = false;

export function start(given) {
  shell = given;
  listen();
}

export function closeMenu() {
  menuOpen = false;
}

/** The page `view` with the rail beside it. */
export const frame = (view) => html`<div class="frame">
  <a class="skip" href="#page" @click=${skip}>Skip to content</a>
  <header class="rail">
    <p class="brand"><a href=${link({})}>snaglist</a></p>
    ${shell.applications().length > 0 && switcher()}
    <button class="button rail-menu" type="button" aria-expanded=${menuOpen ? "true" : "false"} aria-controls="pages" @click=${toggleMenu}>
      <ui-icon name="list"></ui-icon> Pages</button>
    <nav aria-label="Pages" id="pages" class=${menuOpen ? "open" : null}>
      ${keyed(groups(), ([name]) => name, ([name, pages]) => html`${name && html`<p class="rail-group">${name}</p>`}
        ${keyed(pages, ({ id }) => id, navigationLink)}`)}
    </nav>
    <p class="live connection" role="status">${state()}</p>
    <div class="tools">
      <button class="button button-plain" title="Commands (Ctrl K)" aria-label="Commands" @click=${showPalette}>
        <ui-icon name="search"></ui-icon>
      </button>
      <button class="button button-plain" title="Local time or UTC" aria-label=${`Times are in ${zone()}. Switch between local time and UTC`} @click=${otherClock}>
        ${zone()}
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
  <main class="page" id="page" tabindex="-1">${printed(query())} ${outage() && lost(outage())} ${view}</main>
</div>`;

/** Whether what is shown is what is, in words: the dot only repeats it. */
function state() {
  if (outage()) return html`<span class="pulse pulse-lost"></span> ${outage().offline ? "Offline" : "Reconnecting …"}`;
  if (shell.opening()) return html`<span class="pulse pulse-busy"></span> Loading ${shell.opening().title} …`;
  return html`<span class="pulse"></span> Live`;
}

const lost = ({ since, offline }) => html`<div class="outage"><p><b>${offline ? "Offline" : "Reconnecting"} since ${clock(since, "time")}.</b>
    ${offline ? "This device has no network." : "snaglist does not answer."} What you see may be out of date; it catches up by itself.</p>
  <button class="button" type="button" @click=${tryNow}>Try now</button></div>`;

/** What stands on paper above a page: whose it is, the times that the address names, and when it was printed. */
const printed = ({ from, since = from, to }) => html`<p class="printed">${[shell.application()?.name, current().title, (since || to) && `${since ? clock(since) : "…"} to ${to ? clock(to) : "now"}`,
  `printed ${clock(stamp(new Date()), "exact")}`].filter(Boolean).join(" · ")}</p>`;

/** The pages of the rail by their group, in the order in which the groups come first. */
const groups = () => [...Map.groupBy(navigation(), ({ group }) => group ?? "")];

function toggleMenu() {
  menuOpen = !menuOpen;
  shell.draw();
}

/** The page that is being opened, when that takes a while, or the one that is shown. */
const current = () => shell.opening() ?? shell.shown().page ?? {};

/** The first page of the rail is home. */
const wayTo = ({ id }) => (id === navigation()[0].id ? {} : { view: id });

const navigationLink = (page) => html`<a
  href=${link(wayTo(page))}
  aria-current=${(current().parent ?? current().id) === page.id ? "page" : null}
><ui-icon name=${page.icon ?? "plug"}></ui-icon> <span>${page.title}</span></a>`;

const switcher = () => html`<label class="switcher">
  <span class="off-screen">Application</span>
  <select .value=${shell.application().id} @change=${switchApplication}>
    ${keyed(shell.applications(), ({ id }) => id, ({ id, name }) => html`<option value=${id}>${name}</option>`)}
  </select>
</label>`;

function switchApplication(event) {
  const { value } = event.target;
  const page = shell.shown().page?.parent ?? shell.shown().page?.id;
  const home = page === navigation()[0].id;
  go({ app: value === shell.applications()[0].id ? null : value, view: home ? null : page });
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

/** Show all times in the other clock. */
function otherClock() {
  switchClock();
  redrawTimes();
  shell.draw();
}

function signOut() {
  keepKey("");
  shell.signIn();
}

/** `g t` and the like, of the pages that name a letter. */
const journeys = () => navigation().filter(({ letter }) => letter)
  .map((page) => ({ key: `g ${page.letter}`, label: `Go to ${page.title}`, run: () => go(wayTo(page)) }));

const bindings = () => [
  ...journeys(),
  ...shortcutsOf(),
  ...(shell.shown().error ? [] : (shell.shown().page?.keys ?? [])),
  { key: "?", label: "This help", run: showHelp },
];

const showHelp = async () => (await withStyles(import("./help.js"))).help([
  ...bindings(),
  { key: "Ctrl K", label: "Commands: go anywhere, do anything" },
  { key: "Esc", label: "Exit field, close dialog" },
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
  palette(dialog, { journeys, bindings, wayTo, applications: shell.applications() }, entered);
}

/** Shortcuts are single keys and pairs like `g i`; later ones win. Ctrl K holds even in a field. */
function listen() {
  let first = "";
  let pressed = 0;
  addEventListener("beforeprint", () => shell.draw());
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key === "k") {
      event.preventDefault();
      void showPalette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.matches(EDITABLE)) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    if ((event.key === "Enter" || event.key === " ") && target.closest(PRESSABLE)) return;
    const pair = Date.now() - pressed < PAIR_TIME ? `${first} ${event.key}` : "";
    const all = bindings();
    const binding = all.findLast(({ key }) => key === pair) ?? all.findLast(({ key }) => key === event.key);
    first = event.key;
    pressed = Date.now();
    if (!binding) return;
    event.preventDefault();
    binding.run(event);
  });
}
