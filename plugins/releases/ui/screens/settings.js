// Where the sources can be looked at: the template that links of issues are made of.

export default (ui) => {
  const { html, api } = ui;

  async function save(event) {
    event.preventDefault();
    const { template, ref, prefixes } = Object.fromEntries(new FormData(event.target));
    const listed = prefixes.split("\n").map((line) => line.trim()).filter(Boolean);
    await ui.act(() => api.put("release-settings", { repo_url_template: template, default_ref: ref, path_prefixes: listed }), "Saved.");
  }

  return (settings) => html`<section class="card" aria-labelledby="links"><h2 id="links">Links to sources</h2>
    <form class="toolbar" aria-label="Links to sources" @submit=${save}>
      <label>Address of a line <input name="template" .value=${settings.repo_url_template} maxlength="500" size="60" autocomplete="off"
        placeholder="https://git.example.com/shop/blob/{ref}/{path}#L{line}" /></label>
      <label>Commit, tag or branch without a deploy <input name="ref" .value=${settings.default_ref} maxlength="120" placeholder="main" autocomplete="off" /></label>
      <label>Path prefixes to remove, one a line <textarea name="prefixes" rows="3" .value=${settings.path_prefixes.join("\n")}></textarea></label>
      <button class="button">Save</button></form>
    <p class="faint">{path} is the file of the frame, {line} its line, {ref} what the newest deploy of the issue's last release was made from.</p></section>`;
};
