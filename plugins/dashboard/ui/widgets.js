// What a page is drawn with: messages and pages of a list, which are here, and what is fetched with the first page that may
// need it.

import { api, link, query } from "./api.js";
import { html, keyed, render } from "./dom.js";
import { number, plural } from "./text.js";

let fetching = null, fetched = null, styled = null;

/** The style sheet of everything but the first page, behind that of the first page: those of plugins come after both. */
export function styles() {
  styled ??= new Promise((resolve, reject) => {
    const first = document.querySelector("link[rel=stylesheet]");
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("later.css", first.href) });
    sheet.addEventListener("load", () => resolve(null));
    sheet.addEventListener("error", () => {
      sheet.remove();
      styled = null; // the next one tries again
      reject(new Error("The styles of this page could not be fetched."));
    });
    first.after(sheet);
  });
  return styled;
}

/** A module whose styles are not those of the first page. */
export const withStyles = async (module) => (await Promise.all([module, styles()]))[0];

// -- the strip of jobs, which is fetched with the first one

let strip = null;

/** Show a job until it ends. */
export async function follow(...given) {
  strip ??= withStyles(import("./jobs.js"));
  (await strip).follow(...given);
}

/** Look for jobs that somebody started before this page was opened. */
export async function findJobs() {
  const { data } = await api("jobs", { status: ["queued", "running"] }).catch(() => ({ data: [] })); // not allowed to see jobs: no strip
  for (const { id, created_by: person } of data) if (person) void follow(id);
}

/** Forget all jobs: another application, or nobody signed in. */
export async function leaveJobs() {
  (await strip)?.leave();
}

// -- widgets

/** All widgets by name; fetched side by side, once. */
export function widgets() {
  fetching ??= Promise.all([
    import("./widgets/dialog.js"), import("./widgets/form.js"), import("./widgets/table.js"), import("./widgets/menu.js"),
    import("./widgets/progress.js"), import("./widgets/schema.js"), import("./widgets/snippet.js"), import("./widgets/copy.js"),
    import("./widgets/dates.js"), styles(),
  ]).then(
    (modules) => (fetched = Object.assign({}, ...modules)),
    (error) => {
      fetching = null; // the next one tries again
      throw error;
    },
  );
  return fetching;
}

/** What is there already, or an element that is filled as soon as it is. */
function drawn(make) {
  if (fetched) return make(fetched);
  const host = Object.assign(document.createElement("div"), { className: "late" });
  void widgets().then((all) => render(make(all), host));
  return host;
}

/** An element that draws itself as soon as its module and the styles are there. */
function chart(given) {
  withStyles(import("./widgets/chart.js")).catch((error) => toast(error.message, { error: true }));
  return html`<ui-chart .chart=${given}></ui-chart>`;
}

/**
 * A button that opens `content`, and costs a page nothing before it is pressed: `opening` may fetch what the content is made
 * of. `text` or `icon` stands on the button, `plain` without a frame; `kind` is a class of the box.
 */
export function popover(label, content, { text = null, icon = null, plain = false, kind = "", opening = null } = {}) {
  const id = `popover-${encodeURIComponent(label)}`;
  async function press(event) {
    event.preventDefault(); // the browser would show it before it is filled
    const button = event.currentTarget;
    (await widgets()).toggle(button, button.nextElementSibling, opening);
  }
  return html`<span class="menu"><button class=${["button", plain ? "button-plain" : text && "menu-text"].filter(Boolean).join(" ")} type="button" aria-label=${text === label ? null : label}
      title=${text ? null : label} aria-haspopup="dialog" aria-expanded="false" popovertarget=${id} @click=${press}>${icon ? html`<ui-icon name=${icon}></ui-icon>` : text}</button>
    <div id=${id} class=${`menu-list ${kind}`} role="dialog" aria-label=${label} tabindex="-1" popover>${content}</div></span>`;
}

/** The part of the kit that is made of them; `redraw` shows the page again. */
export function widgetKit(redraw) {
  let tables = null;
  const drawing = (name) => (...given) => drawn((all) => all[name](...given));
  const asking = (name) => async (...given) => (await widgets())[name](...given);
  return {
    widgets: async () => void (await widgets()),
    table: (...given) => drawn((all) => (tables ??= all.tables(redraw))(...given)),
    form(options) {
      if (fetched) return fetched.form(options);
      const element = document.createElement("form");
      void widgets().then(({ form }) => form(options, element));
      return element;
    },
    chart,
    fieldsOf: (...given) => fetched.fieldsOf(...given),
    menu: drawing("menu"),
    popover,
    progress: drawing("progress"),
    snippet: drawing("snippet"),
    dates() {
      let form = null;
      return { open: async (...given) => (form ??= (await widgets()).datesForm(redraw)).open(...given), view: () => form?.view() };
    },
    copy: asking("copy"),
    ask: asking("ask"),
    confirm: asking("confirm"),
    dialog: asking("dialog"),
  };
}

// -- messages

const STAY = 8000;
const host = document.createElement("div");
let shown = [], last = 0;

host.className = "toasts";
host.setAttribute("role", "status");
document.body.append(host);

/** Show a message. `undo` takes it back; `error` marks a failure and stays until it is closed. */
export function toast(text, { undo, error = false } = {}) {
  last += 1;
  const item = { id: last, text, undo, error };
  shown = [...shown.slice(-3), item];
  draw();
  if (!error) leave(item);
}

function leave(item) {
  setTimeout(() => (host.matches(":hover, :focus-within") ? leave(item) : close(item)), STAY);
}

function close(item) {
  shown = shown.filter((other) => other !== item);
  draw();
}

async function takeBack(item) {
  close(item);
  try {
    await item.undo();
  } catch (error) {
    toast(error.message, { error: true });
  }
}

function draw() {
  render(keyed(shown, ({ id }) => id, (item) => html`<div class=${item.error ? "toast toast-error" : "toast"}>
    <span>${item.text}</span>
    ${item.undo && html`<button class="button button-plain" @click=${() => takeBack(item)}>Undo</button>`}
    <button class="button button-plain" aria-label="Close message" @click=${() => close(item)}><ui-icon name="close"></ui-icon></button>
  </div>`), host);
}

/** Make `act(work, said)`: the message of success is a text or made from the answer; gives the answer, or null. */
export const acting = (reload) => async (work, said) => {
  let answer = null;
  try {
    answer = (await work()) ?? true;
    const text = typeof said === "function" ? said(answer) : said;
    if (text) toast(text);
  } catch (error) {
    toast(error.message, { error: true });
  }
  await reload();
  return answer;
};

// -- pages of a list

/** The pages of a list, by the parameter `page` of the address, or `name`; `meta` as the service gives it. */
export function pager({ page, pages, total, total_exact: exact = true }, word, words = `${word}s`, name = "page") {
  if (!total && page < 2) return null;
  const count = html`<span class="faint">${exact ? "" : "over "}${plural(total, word, words)}</span>`;
  if (pages < 2 && page < 2) return html`<p class="pager">${count}</p>`;
  const to = (target, rel, text) => target >= 1 && target <= pages
    ? html`<a class="button" rel=${rel} href=${link({ ...query(), [name]: target === 1 ? null : target })}>${text}</a>`
    : html`<span class="button button-off">${text}</span>`;
  return html`<nav class="pager" aria-label=${`Pages of ${words}`}>${to(page - 1, "prev", "Previous")}
    <span>Page ${number(page)} of ${number(pages)}</span> ${to(page + 1, "next", "Next")} ${count}</nav>`;
}
