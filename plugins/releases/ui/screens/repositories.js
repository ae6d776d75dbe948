// Modules whose code is in a repository of its own: a list, and a form for one.

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api } = ui;

  /** Store the list; what the service says of an entry is said of the fields of its form. */
  async function store(modules) {
    try {
      return await api.patch("release-settings", { modules });
    } catch (error) {
      error.message = error.message.replaceAll(/modules\[\d+\]\./g, "");
      throw error;
    }
  }

  /** @type {import("../../../../schemas/dashboard.d.ts").Field} */
  const address = { name: "repo_url_template", label: "Link to a line", required: true, max: 500,
    placeholder: "https://git.example.com/till/blob/{release}/{path}#L{line}",
    hint: "{release} is the release of the event, {ref} the commit of its newest deploy." };
  /** @type {import("../../../../schemas/dashboard.d.ts").Field} */
  const prefixes = { name: "path_prefixes", label: "Path prefixes to remove, one per line", rows: 2, type: "list" };

  async function add(chosen, free) {
    const made = await ui.ask({
      title: "Repository of a module",
      fields: [
        { name: "module_id", label: "Module", type: "select", options: free.map(({ id, name }) => [String(id), name]), value: free[0].id, read: Number },
        address, prefixes,
      ],
      save: (values) => store([...chosen, values]),
    });
    if (made) await ui.reload();
  }

  async function edit(chosen, one, name) {
    const saved = await ui.ask({
      title: `Repository of ${name}`,
      fields: [address, prefixes],
      values: one,
      save: (values) => store(chosen.map((other) => (other === one ? { ...one, ...values } : other))),
    });
    if (saved) await ui.reload();
  }

  async function remove(chosen, one, name) {
    const gone = await ui.confirm({
      title: `Take the repository off ${name}`,
      text: "Stack frames of its issues then use the general link, if there is one.",
      action: "Take it off",
      run: () => store(chosen.filter((other) => other !== one)),
    });
    if (gone) await ui.reload();
  }

  const columns = (chosen, called) => [
    { name: "module_id", label: "Module", view: ({ module_id: id }) => called(id) },
    { name: "repo_url_template", label: "Link to a line", wrap: true, view: ({ repo_url_template: text }) => html`<code>${text}</code>` },
    { name: "path_prefixes", label: "Removed prefixes", wrap: true, view: ({ path_prefixes: given }) => html`<code>${given.join(" ")}</code>` },
    { name: "actions", label: "", view: (one) => html`<button class="button" type="button" aria-label=${`Edit the repository of ${called(one.module_id)}`}
        @click=${() => edit(chosen, one, called(one.module_id))}>Edit</button>
      <button class="button button-plain" type="button" aria-label=${`Take the repository off ${called(one.module_id)}`}
        @click=${() => remove(chosen, one, called(one.module_id))}><ui-icon name="close"></ui-icon></button>` },
  ];

  /** `chosen`: the entries of the settings, `modules`: all that there are. */
  return function repositories(chosen, modules) {
    if (!modules.length) return null;
    const called = (id) => modules.find((module) => module.id === id)?.name ?? `module ${id}`;
    const free = modules.filter(({ id }) => !chosen.some((one) => one.module_id === id));
    return html`<div class="head further"><h3 id="repositories">Modules with a repository of their own</h3>
        ${free.length > 0 && html`<button class="button" type="button" @click=${() => add(chosen, free)}>Add a module</button>`}</div>
      ${ui.table(columns(chosen, called), chosen, { label: "Repositories of modules", empty: "All modules use the link above." })}`;
  };
};
