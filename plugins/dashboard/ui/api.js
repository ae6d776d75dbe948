// The JSON API as the dashboard's screens see it: selected application, key, failures as exceptions.

import { encode, query as route } from "./routes.js";

const SLOWEST = 60;
// Two deployments below one host must not share a key.
const KEY = `snaglist.key:${location.pathname}`;

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

/** The failure of an answer: the API's own message, or what the status says. */
export async function failure(response) {
  const body = await response.json().catch(() => null);
  return new ApiError(response.status, body?.error ?? `The service answered ${response.status}.`);
}

/** Send one request and return the raw answer. */
export async function request(name, { method = "GET", query = {}, body, headers = {}, signal } = {}) {
  const sent = { ...headers };
  if (key) sent["X-Service-Token"] = key;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  const address = encode({ app: route().app, ...query, api: name });
  try {
    return await fetch(address, { method, headers: sent, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "The service cannot be reached.");
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
 * Rests while the tab is hidden, slows down while the service fails. Returns the function that stops it.
 */
export function watch(name, query, changed, seconds = 5) {
  let etag = "";
  let pause = seconds;
  let timer = 0;
  const stop = new AbortController();

  async function ask() {
    let answer = null;
    try {
      const response = await request(name, { query, signal: stop.signal, headers: etag ? { "If-None-Match": etag } : {} });
      if (response.status !== 304 && !response.ok) throw await failure(response);
      if (response.ok) {
        answer = await response.json();
        etag = response.headers.get("ETag") ?? "";
      }
      pause = seconds;
    } catch {
      pause = Math.min(pause * 2, SLOWEST);
    }
    next();
    if (answer && !stop.signal.aborted) changed(answer);
  }

  function next() {
    clearTimeout(timer);
    if (!stop.signal.aborted && !document.hidden) timer = setTimeout(ask, pause * 1000);
  }

  document.addEventListener("visibilitychange", next, { signal: stop.signal });
  next();
  return () => {
    clearTimeout(timer);
    stop.abort();
  };
}
