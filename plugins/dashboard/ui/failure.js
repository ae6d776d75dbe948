// What shows in place of a page that could not be shown, with the way on.

import { api, link } from "./api.js";
import { html } from "./dom.js";
import { toast } from "./widgets.js";

const HEADINGS = { 0: "No answer", 403: "Not allowed", 404: "Not found" };

/** `again` tries once more; `restart` fetches the plugins, too. */
export function failed(error, { again, restart }) {
  if (error.off) return switchedOff(error.off, restart);
  const away = error.status === 0;
  return notice(HEADINGS[error.status] ?? "Something went wrong", html`<p>${error.message}${away && " This page loads by itself once it does."}</p>`,
    !error.nowhere && html`<button class="button" type="button" @click=${() => again()}>Try again</button>`);
}

/** The page belongs to a plugin that is off in this application. */
function switchedOff({ id, name }, restart) {
  async function on() {
    try {
      await api.post("plugins", { id, enabled: true });
    } catch (error) {
      toast(`${name} stays off: ${error.message}`, { error: true });
      return;
    }
    await restart();
  }
  return notice(`${name} is off`, html`<p>This page is part of ${name}, which is off in this application. What it stored is kept while it is off.</p>`,
    html`<button class="button button-main" type="button" @click=${on}>Switch on</button> <a class="button" href=${link({ view: "plugins" })}>All plugins</a>`);
}

const notice = (heading, text, ways) => html`<div class="card notice" role="alert">
  <h1 tabindex="-1">${heading}</h1> ${text}
  <p class="toolbar">${ways} <a href=${link({})}>Go to Issues</a></p>
</div>`;
