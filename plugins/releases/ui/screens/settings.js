// Where the sources can be looked at: the templates that links of frames are made of.

import repositoriesOf from "./repositories.js";

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api } = ui;
  const repositories = repositoriesOf(ui);

  async function save(values) {
    await api.patch("release-settings", values);
    ui.toast("Saved.");
    await ui.reload();
  }

  const form = (settings) => ui.form({
    label: "Links to source code",
    fields: [
      { name: "repo_url_template", label: "Link to a line", max: 500, placeholder: "https://git.example.com/shop/blob/{ref}/{path}#L{line}",
        hint: "{path} is the file of a frame, {line} its line, {release} the release of the event, {ref} what its newest deploy was made from. Each frame of your own code then has a link." },
      { name: "default_ref", label: "Commit, tag or branch when no release or deploy is known", max: 120, placeholder: "main", half: true },
      { name: "path_prefixes", label: "Path prefixes to remove, one per line", rows: 3, type: "list", half: true },
    ],
    values: settings,
    save,
    keep: true,
  });

  const view = (made, chosen, modules) => html`<section class="card block" aria-labelledby="links"><h2 id="links">Links to source code</h2>
    ${made} ${repositories(chosen, modules)}</section>`;

  return { form, view };
};
