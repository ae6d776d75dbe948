// Where the user is. Every state of the dashboard is a query on the root, so reload, back, bookmarks
// and any sub-path work without configuration.

/** The query of the address bar as an object. */
export const query = () => Object.fromEntries(new URLSearchParams(location.search));

/** A query string without empty values; lists become comma lists. */
export function encode(values) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    const text = Array.isArray(value) ? value.join(",") : value;
    if (text !== null && text !== undefined && text !== "") params.set(name, text);
  }
  return `?${params}`;
}

/** The address of a view; the selected application stays selected. */
export const link = (values) => encode({ app: query().app, ...values });

let listener = () => {};

/** Name the function that shows the current address. */
export function onRoute(show) {
  listener = show;
}

/** Go to a view. `replace` makes no new entry in the history. */
export function go(values, { replace = false } = {}) {
  history.replaceState({ scroll: scrollY }, "");
  history[replace ? "replaceState" : "pushState"]({ scroll: 0 }, "", link(values));
  listener({ scroll: replace ? scrollY : 0 });
}

/** Follow links to views without loading the page again. */
export function start() {
  history.scrollRestoration = "manual";
  addEventListener("popstate", (event) => listener({ scroll: event.state?.scroll ?? 0 }));
  document.addEventListener("click", (event) => {
    const anchor = event.target.closest?.("a[href]");
    const href = anchor?.getAttribute("href") ?? "";
    const plain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!plain || event.defaultPrevented || !href.startsWith("?") || anchor.target || anchor.download) return;
    const values = Object.fromEntries(new URLSearchParams(href));
    if ("api" in values) return;
    event.preventDefault();
    go({ app: null, ...values });
  });
}
