// Source maps: a list, and an upload of the maps of a release.

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api } = ui;

  async function upload(event) {
    event.preventDefault();
    const form = event.target;
    const [release, folder] = [form.elements.release.value, form.elements.folder.value];
    const chosen = [...form.elements.maps.files];
    const sent = await ui.act(async () => {
      for (const file of chosen) {
        const name = `${folder.trim()}/${file.name.replace(/\.map$/, "")}`;
        await api.post("source-maps", { release, file: name, map: await file.text() });
      }
      return chosen.length;
    }, (count) => `${ui.plural(count, "source map")} stored.`);
    if (sent) form.reset();
  }

  const called = ({ file, debug_id: debugId }) => file ?? debugId;

  async function remove(map) {
    const gone = await ui.confirm({
      title: `Delete the source map of ${called(map)}`,
      text: "What was resolved with it stays.",
      action: "Delete the source map",
      run: () => api.delete("source-maps", { id: map.id }),
    });
    if (gone) await ui.reload();
  }

  const columns = [
    { name: "release", label: "Release", view: ({ release }) => release && html`<code>${release}</code>` },
    { name: "file", label: "File", wrap: true, view: ({ file }) => file && html`<code>${file}</code>` },
    { name: "debug_id", label: "Debug id", view: ({ debug_id: debugId }) => debugId && html`<code>${debugId}</code>` },
    { name: "size", label: "Size", number: true, view: ({ size }) => ui.bytes(size) },
    { name: "sources", label: "Sources", number: true },
    { name: "updated_at", label: "Stored", view: ({ updated_at: at }) => html`<ui-ago at=${at}></ui-ago>` },
    { name: "actions", label: "", view: (map) => html`<button class="button button-plain" type="button"
      aria-label=${`Delete the map of ${called(map)}`} @click=${() => remove(map)}><ui-icon name="close"></ui-icon></button>` },
  ];

  const form = () => html`<form class="form" aria-label="Upload source maps" @submit=${upload}><div class="fields">
    <div class="field field-half"><label for="map-release">Release</label>
      <input id="map-release" name="release" required maxlength="120" autocomplete="off" /></div>
    <div class="field field-half"><label for="map-folder">Folder of the scripts</label>
      <input id="map-folder" name="folder" maxlength="800" placeholder="static/js" autocomplete="off" /></div>
    <div class="field"><label for="map-files">Map files</label>
      <input id="map-files" name="maps" type="file" required multiple accept=".map,.json" /></div></div>
    <div class="actions"><button class="button button-main">Upload</button></div></form>`;

  const command = () => `snaglist releases sourcemaps upload dist --release v1.0.0 --url ${location.origin}${location.pathname}`;

  return ({ data, meta }) => html`<section class="card block" aria-labelledby="maps"><h2 id="maps">Source maps</h2>
    ${data.length > 0
      ? html`${ui.table(columns, data, { label: "Source maps" })} ${ui.pager(meta, "source map", "source maps", "maps")}`
      : html`<p>With the source maps of a build, stacks of minified scripts show the original code. Upload them from your pipeline with:</p>
        ${ui.snippet(command(), "Command for maps")}`}
    ${form()}</section>`;
};
