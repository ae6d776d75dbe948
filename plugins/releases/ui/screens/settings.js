// Where the sources can be looked at: the template that links of issues are made of.

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api } = ui;

  async function save(values) {
    await api.put("release-settings", values);
    ui.toast("Saved.");
    await ui.reload();
  }

  const form = (settings) => ui.form({
    label: "Links to sources",
    fields: [
      { name: "repo_url_template", label: "Address of a line", max: 500, placeholder: "https://git.example.com/shop/blob/{ref}/{path}#L{line}",
        hint: "{path} is the file of the frame, {line} its line, {ref} what the newest deploy of the issue's last release was made from." },
      { name: "default_ref", label: "Commit, tag or branch without a deploy", max: 120, placeholder: "main", half: true },
      { name: "path_prefixes", label: "Path prefixes to remove, one a line", rows: 3, type: "list", half: true },
    ],
    values: settings,
    save,
    keep: true,
  });

  const view = (made) => html`<section class="card block" aria-labelledby="links"><h2 id="links">Links to sources</h2>${made}</section>`;

  return { form, view };
};
