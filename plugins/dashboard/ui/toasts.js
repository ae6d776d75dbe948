// Short messages about what just happened, with a way back.

import { html, keyed, render } from "./dom.js";

const STAY = 8000;
const host = document.createElement("div");
let shown = [];
let last = 0;

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
  render(
    keyed(
      shown,
      (item) => item.id,
      (item) => html`<div class=${item.error ? "toast toast-error" : "toast"}>
        <span>${item.text}</span>
        ${item.undo && html`<button class="button button-plain" @click=${() => takeBack(item)}>Undo</button>`}
        <button class="button button-plain" aria-label="Close message" @click=${() => close(item)}>
          <ui-icon name="close"></ui-icon>
        </button>
      </div>`,
    ),
    host,
  );
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
