// What a page is drawn with when it has more than text and links: fetched with the first page that may need it.

import { render } from "./dom.js";

let fetching = null;
let fetched = null;
let styled = null;

/** The style sheet of everything but the first page, behind that of the first page: those of plugins come after both. */
export function styles() {
  styled ??= new Promise((resolve, reject) => {
    const first = document.querySelector("link[rel=stylesheet]");
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("screens.css", first.href) });
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

/** All of them by name; fetched side by side, once. */
export function widgets() {
  fetching ??= Promise.all([
    import("./widgets/dialog.js"), import("./widgets/form.js"), import("./widgets/table.js"), import("./widgets/menu.js"),
    import("./widgets/progress.js"), import("./widgets/snippet.js"), import("./widgets/copy.js"), styles(),
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
    menu: drawing("menu"),
    progress: drawing("progress"),
    snippet: drawing("snippet"),
    ask: asking("ask"),
    confirm: asking("confirm"),
    dialog: asking("dialog"),
  };
}
