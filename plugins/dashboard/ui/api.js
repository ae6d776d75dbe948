// Where the user is, and the JSON API as the screens see it: both are query strings on the root, so reload, back, bookmarks
// and any sub-path work without configuration.

import { heard, onReturn, unanswered } from "./connection.js";

const SLOWEST = 60;
// Two deployments below one host must not share a key.
const KEY = `snaglist.key:${location.pathname}`;

const UNREACHED = "snaglist does not answer.";

/** An answer that is not a success. `status` 0: the service could not be reached. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

function stored(storage) {
  try {
    return globalThis[storage].getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

let key = stored("sessionStorage") || stored("localStorage");

/** The key that is sent with every request. */
export const hasKey = () => key !== "";

/** Keep the key for this tab, or for this browser when it is to be remembered; an empty one forgets it. */
export function keepKey(text, remember = false) {
  key = text;
  for (const storage of ["sessionStorage", "localStorage"]) {
    try {
      const chosen = text && (storage === "localStorage") === remember;
      if (chosen) globalThis[storage].setItem(KEY, text);
      else globalThis[storage].removeItem(KEY);
    } catch {
      // Storage is blocked: the key lives as long as the page.
    }
  }
}

/** An error as it is, but one that says that a module could not be fetched; every browser has its own words for it. */
export const reached = (error) => (error.name === "TypeError" && /module/i.test(error.message) ? new ApiError(0, UNREACHED) : error);

/** Why there is no page at an address: it is one of the plugin `off`, or of none. */
export const noPage = (off) => Object.assign(new ApiError(404, "There is no page at this address."), off ? { off } : { nowhere: true });

/** The failure of an answer: the API's own message, or what the status says. */
export async function failure(response) {
  if (unanswered(response)) return new ApiError(0, UNREACHED);
  const body = await response.json().catch(() => null);
  return new ApiError(response.status, body?.error ?? `The service answered ${response.status}.`);
}

/** Send one request and return the raw answer. */
export async function request(name, { method = "GET", query: asked = {}, body, headers = {}, signal } = {}) {
  const sent = { ...headers };
  if (key) sent["X-Service-Token"] = key;
  const bytes = body instanceof Blob;
  if (body !== undefined) sent["Content-Type"] = bytes ? "application/octet-stream" : "application/json";
  const address = encode({ app: query().app, ...asked, api: name });
  try {
    const response = await fetch(address, { method, headers: sent, body: bytes ? body : body && JSON.stringify(body), signal });
    heard(response);
    return response;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    heard(null);
    throw new ApiError(0, UNREACHED);
  }
}

async function json(name, options) {
  const response = await request(name, options);
  if (!response.ok) throw await failure(response);
  return response.json();
}

/** Read: `api("tags", { page: 2 })`. Write: `api.post("issue-status", { id: 15, status: "fixed" })`. */
export const api = Object.assign((name, query, { signal } = {}) => json(name, { query, signal }), {
  post: (name, body, query) => json(name, { method: "POST", body, query }),
  put: (name, body, query) => json(name, { method: "PUT", body, query }),
  patch: (name, body, query) => json(name, { method: "PATCH", body, query }),
  delete: (name, body, query) => json(name, { method: "DELETE", body, query }),
});

/**
 * Ask again and again and tell what is new: the service answers 304 while nothing changed.
 * Rests while the tab is hidden, slows down while the service fails, asks at once when it is back. What is not there any
 * more (404) is told to `gone` and ends it. Returns the function that stops it.
 */
export function watch(name, query, changed, seconds = 5, gone = null) {
  let etag = "";
  let pause = seconds;
  let timer = 0;
  let asking = false;
  const stop = new AbortController();

  async function ask() {
    if (asking) return;
    asking = true;
    let answer = null;
    try {
      const response = await request(name, { query, signal: stop.signal, headers: etag ? { "If-None-Match": etag } : {} });
      if (response.status !== 304 && !response.ok) throw await failure(response);
      if (response.ok) {
        answer = await response.json();
        etag = response.headers.get("ETag") ?? "";
      }
      pause = seconds;
    } catch (error) {
      if (error.status === 404 && gone && !stop.signal.aborted) {
        leave();
        return gone(error);
      }
      pause = Math.min(pause * 2, SLOWEST);
    }
    asking = false;
    next();
    if (answer && !stop.signal.aborted) changed(answer);
  }

  function leave() {
    forget();
    clearTimeout(timer);
    stop.abort();
  }

  function next() {
    clearTimeout(timer);
    if (!stop.signal.aborted && !document.hidden) timer = setTimeout(ask, pause * 1000);
  }

  const forget = onReturn(ask);
  document.addEventListener("visibilitychange", next, { signal: stop.signal });
  next();
  return leave;
}

// -- the address of a view

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
export function followLinks() {
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
