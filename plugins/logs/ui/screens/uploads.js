// Files that people drop on the dashboard or choose: where they can be dropped, how far each is, and what was found in it.

import { found } from "./found.js";
import { ended, sendFile } from "./sending.js";

const LOG = ".log";
const TEXT = /^(text\/.*|application\/(json|xml|x-ndjson))?$/;

let made = null;

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
function make(ui) {
  const { html, api, keyed } = ui;
  let items = [];
  let last = 0;
  let busy = false;
  /** What is shown while files are dragged over the page. */
  let over = null;
  const host = Object.assign(document.createElement("section"), { className: "uploads", ariaLabel: "Uploads" });

  /** The name as the service may take it: what failed because of it may be read all the same. */
  const unnamed = (item) => item.error?.startsWith("name: ") && TEXT.test(item.file.type) && !item.name.endsWith(LOG);

  function draw() {
    if (items.length && !host.isConnected) document.body.append(host);
    ui.render(items.length ? html`<div class="head"><h2>Uploads</h2>
      ${busy ? null : html`<button class="button button-plain" type="button" @click=${clear}>Close</button>`}</div>
      <ul>${keyed(items, ({ id }) => id, row)}</ul>` : null, host);
    if (!items.length && host.parentNode === document.body) host.remove();
  }

  const clear = () => {
    items = [];
    draw();
  };

  function state(item) {
    const size = item.file.size;
    if (item.error) return html`<span class="problem">${item.error.replace(/^name: is/, "The name is")}</span>
      ${unnamed(item) && html`<button class="button" type="button" @click=${() => again(item, item.name + LOG)}>Read it as a log</button>`}
      ${item.retry && html`<button class="button" type="button" @click=${() => again(item, item.name)}>Try again</button>`}`;
    if (item.cancelled) return html`<span class="faint">Cancelled</span>`;
    if (item.result) return found(ui, item);
    if (item.job) return bar(item, "Reading", item.job.progress.done, "");
    if (!item.busy) return html`<span class="faint">Waiting · ${ui.bytes(size)}</span>`;
    return bar(item, "Uploading", item.received, item.waits ? "no connection, trying again" : "");
  }

  const bar = ({ name, file: { size } }, doing, done, remark) => html`<progress aria-label=${`${doing} ${name}`} max=${size} value=${done}></progress>
    <span class="faint">${doing}${remark ? `: ${remark}` : ` ${ui.bytes(done)} of ${ui.bytes(size)}`}</span>`;

  const pending = (item) => !item.error && !item.result && !item.job && !item.cancelled;

  const row = (item) => html`<li class="upload"><b class="upload-name">${item.name}</b>
    <span class="upload-state" role="status">${state(item)}</span>
    ${pending(item) && html`<button class="button" type="button" aria-label=${`Cancel ${item.name}`} @click=${() => cancel(item)}>Cancel</button>`}</li>`;

  function cancel(item) {
    item.cancelled = true;
    draw();
  }

  function again(item, name) {
    Object.assign(item, { name, error: null, retry: false, received: 0 });
    void run();
  }

  async function read(item, info) {
    Object.assign(item, { busy: true });
    draw();
    try {
      if (info.reason) throw new Error(info.reason);
      if (item.folder) throw new Error("This is a folder. Drop the files in it.");
      if (!item.file.size) throw new Error("The file is empty.");
      if (item.file.size > info.max_bytes) throw new Error(`The file is larger than ${ui.bytes(info.max_bytes)}, the most that is taken here.`);
      const answer = await sendFile(api, item, info, draw);
      if (answer) {
        item.cancelled = false; // too late: all of it is there
        const job = await ended(ui, item, answer.job_id, draw);
        if (job.status !== "succeeded") throw new Error(job.error ?? "The reading was cancelled.");
        Object.assign(item, { result: job.result, equal: answer.equal });
      }
    } catch (error) {
      const unread = error instanceof DOMException; // it is gone from the disk, or may not be read
      Object.assign(item, { error: unread ? "Your browser cannot read this file." : error.message, retry: error.status === 0 || error.status >= 500 });
    }
    Object.assign(item, { busy: false, job: null });
    draw();
  }

  /** Read the files that wait, one after another. */
  async function run() {
    if (busy) return;
    busy = true;
    let reads = false;
    for (let item; (item = items.find(pending)); reads ||= Boolean(item.result)) {
      const info = await api("uploads", { app: item.app }).catch((error) => ({ reason: error.message }));
      await read(item, info);
    }
    busy = false;
    if (reads) await ui.reload();
    draw();
  }

  function add(given) {
    leave();
    const { app } = ui.query();
    items = [...items, ...given.map(({ file, folder }) => ({ id: ++last, app, file, folder, name: file.name, received: 0 }))];
    void ui.widgets().then(run);
    draw();
  }

  // -- while files are over the page

  addEventListener("dragleave", ({ relatedTarget: within }) => within ?? leave()); // out of the window

  function leave() {
    over?.remove();
    over = null;
  }

  async function enter() {
    if (over) return;
    const mine = (over = Object.assign(document.createElement("div"), { className: "drop-over" }));
    const say = (reason) => ui.render(reason ? html`<div><b>Files cannot be read here</b><p>${reason}</p></div>`
      : html`<div><b>Drop files to read them</b><p>into ${ui.application()?.name ?? "snaglist"}</p></div>`, mine);
    await ui.widgets();
    say(null);
    if (over === mine) document.body.append(mine);
    say(await api("uploads").then(({ reason }) => reason, (error) => error.message));
  }

  /** For the page "Add logs": the zone itself, and what was dropped. */
  async function place() {
    const info = await api("uploads");
    const chosen = ({ target }) => {
      add([...target.files].map((file) => ({ file })));
      target.value = "";
    };
    return (importNow) => html`${info.reason ? html`<p>${info.reason}</p>` : html`<label class="drop-zone">
        <span class="drop-words"><b>Drop log files here</b> or anywhere in the dashboard</span>
        <span class="button button-main">Choose files</span>
        <input class="off-screen" type="file" multiple aria-label="Choose log files" @change=${chosen} /></label>`}
      ${host}
      ${info.folder && html`<div class="drop-folder"><span>Or copy files to the drop folder of this server. It is read every few seconds; folders in it become modules.</span>
        <span class="drop-path"><code>${info.folder}</code> <ui-copy text=${info.folder} label="Copy path"></ui-copy>
          <button class="button" type="button" @click=${importNow}>Read it now</button></span></div>`}`;
  }

  return { add, enter, leave, place };
}

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => (made ??= make(ui));
