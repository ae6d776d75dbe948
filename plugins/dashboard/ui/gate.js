// The sign-in page: asks for the key and keeps it for the tab, or for the browser when the user ticks "remember".

import { api, hasKey, keepKey } from "./api.js";
import { html, render } from "./dom.js";

/** What the service says when it is mounted in a site where nobody is signed in: no key helps there. */
const NOBODY = "Nobody is signed in.";

/** The site's own sign-in page, which leads back here with `next`; "" where the site does not say. */
function login() {
  const named = document.querySelector('meta[name="login"]');
  if (!named) return "";
  const url = URL.canParse(named.content, location.href) && new URL(named.content, location.href);
  if (!url || !/^https?:$/.test(url.protocol)) return ""; // no script, and no page that fails
  url.searchParams.set("next", location.pathname.replace(/^\/+/, "/") + location.search);
  return url.href;
}

/** Show the sign-in page in `container`; `entered` runs once a key was accepted, `reason` is the API's refusal. */
export function gate(container, entered, reason) {
  if (reason === NOBODY) return stranger();
  const refused = hasKey();
  keepKey("");
  draw(refused ? "This key is not accepted. Check that it was copied whole." : "");

  async function submit(event) {
    event.preventDefault();
    const fields = new FormData(event.target);
    keepKey(fields.get("key").trim(), fields.has("remember"));
    try {
      await api("openapi");
      entered();
    } catch (error) {
      keepKey("");
      draw(error.status === 401 ? "This key is not accepted. Check that it was copied whole." : error.message);
    }
  }

  function stranger() {
    const url = login();
    render(
      html`<main class="gate">
        <div class="card gate-form">
          <h1>snaglist</h1>
          <p role="alert">${NOBODY} Sign in to the site that this dashboard is part of, then come back.</p>
          ${url && html`<a class="button button-main" href=${url}>Sign in</a>`}
          <button class=${url ? "button" : "button button-main"} @click=${entered}>Try again</button>
        </div>
      </main>`,
      container,
    );
    container.querySelector(".button-main").focus();
  }

  function draw(problem) {
    render(
      html`<main class="gate">
        <form class="card gate-form" @submit=${submit}>
          <h1>snaglist</h1>
          <label class="field">
            <span>Access key</span>
            <input name="key" type="password" autocomplete="current-password" required maxlength="512" autofocus aria-describedby="key-hint" />
          </label>
          <p class="hint" id="key-hint">The key of this installation, <code>SERVICE_TOKEN</code> in its environment or <code>auth.token</code> in its configuration. Whoever runs it can give it to you.</p>
          <label class="check"><input name="remember" type="checkbox" /> Remember in this browser</label>
          <p class="problem" role="alert">${problem}</p>
          <button class="button button-main">Sign in</button>
        </form>
      </main>`,
      container,
    );
    container.querySelector("input")?.focus();
  }
}
