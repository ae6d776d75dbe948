// Tags: what they are called, how they look, and the rule that assigns them.

const ICONS = ["tag", "bell", "box", "chart", "check", "file", "folder", "heart", "key", "layers", "link", "list", "plug", "run", "send", "tool"];
const COLORS = ["#64748b", "#dc2626", "#ea580c", "#ca8a04", "#16a34a", "#0d9488", "#0284c7", "#4f46e5", "#9333ea", "#db2777"];

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;

  /** What a rule with this word would do, in words. */
  async function preview({ match_word: word }) {
    if (!word.trim()) return "Without a word there is no rule: you add this tag to issues manually.";
    const { preview: found } = await api("tags", { preview: word.trim() });
    return `Would tag ${ui.plural(found.issue_count, "issue")} now, and new ones as they come in.`;
  }

  const look = ({ name, color, icon }) => html`<span class="chip" vars=${{ "--tag": color }}><ui-icon name=${icon}></ui-icon> ${name}</span>`;

  /** @returns {import("../../../../schemas/dashboard.d.ts").Field[]} */
  const fields = (tags) => [
    { name: "name", label: "Name", required: true, max: 80 },
    { name: "color", label: "Colour", type: "color", half: true, value: COLORS[tags.length % COLORS.length] },
    { name: "icon", label: "Icon", half: true, value: "tag", max: 32, suggest: ICONS, hint: `One of ${ICONS.slice(0, 6).join(", ")} …` },
    { name: "match_word", label: "Rule: tag issues that contain", max: 200, hint: "Searched for in the title, the message and the exception class, in upper or lower case." },
    { name: "rule_enabled", label: "Rule enabled", type: "check", value: true, when: ({ match_word: word }) => word.trim() !== "" },
  ];

  async function note(values) {
    const text = await preview(values);
    return html`${look({ ...values, name: values.name.trim() || "Tag" })} ${text}`;
  }

  async function add(tags) {
    const made = await ui.ask({ title: "New tag", action: "Create", fields: fields(tags), note, save: (values) => api.post("tags", values) });
    if (!made) return;
    ui.toast(`${made.name} was created.`);
    await ui.reload();
  }

  async function edit(tag, tags) {
    const saved = await ui.ask({
      title: `Edit ${tag.name}`,
      fields: fields(tags),
      values: { ...tag, rule_enabled: tag.rules[0]?.enabled ?? true },
      note,
      save: (values) => api.put("tags", { id: tag.id, ...values }),
    });
    if (!saved) return;
    ui.toast("Saved.");
    await ui.reload();
  }

  async function remove(tag) {
    const gone = await ui.confirm({
      title: `Delete ${tag.name}`,
      text: `It is removed from ${ui.plural(tag.issue_count, "issue")}, and its rule is deleted. The issues stay.`,
      action: "Delete the tag",
      run: () => api.delete("tags", { id: tag.id }),
    });
    if (gone) await ui.reload();
  }

  /** The jobs that still apply rules; none for somebody who may not see jobs. */
  async function unfinished(signal) {
    const { data } = await api("jobs", { kind: "tag_rule", status: ["queued", "running"] }, { signal }).catch(() => ({ data: [] }));
    for (const { id } of data) ui.follow(id, { label: "Applying a tag's rule", done: () => ui.reload() });
    return data.length;
  }

  const rule = ({ rules: [one] }) => one && html`contains <code>${one.match_word}</code>${!one.enabled && html` <span class="faint">(off)</span>`}`;

  const columns = (tags) => [
    { name: "name", label: "Tag", sort: true, view: look },
    { name: "issue_count", label: "Issues", number: true, sort: true,
      view: ({ id, issue_count: count }) => html`<a href=${ui.link({ tag: id, status: "all" })}>${ui.number(count)}</a>` },
    { name: "match_word", label: "Rule", wrap: true, sort: true, view: rule },
    { name: "created_by", label: "Created by", view: ({ created_by: by }) => by ?? "" },
    { name: "updated_at", label: "Changed", sort: true, view: ({ updated_at: at }) => html`<ui-ago at=${at}></ui-ago>` },
    { name: "actions", label: "", view: (tag) => html`<button class="button" type="button" aria-label=${`Edit ${tag.name}`} @click=${() => edit(tag, tags)}>Edit</button>
      <button class="button button-plain" type="button" aria-label=${`Delete ${tag.name}`} @click=${() => remove(tag)}><ui-icon name="close"></ui-icon></button>` },
  ];

  return {
    load: async (_query, { signal }) => {
      const [{ data }, applying] = await Promise.all([api("tags", {}, { signal }), unfinished(signal)]);
      return { data, applying };
    },
    render: ({ data, applying }) => html`<div class="head"><h1 tabindex="-1">Tags</h1>
        <button class="button button-main" @click=${() => add(data)}>New tag</button></div>
      ${applying > 0 && html`<p class="card notice" role="status">A rule is still being applied: the issue counts will change.</p>`}
      <section class="card">${ui.table(columns(data), data, { id: "tags", label: "Tags",
        empty: "No tags yet. A tag with a rule marks every issue that contains a word." })}</section>`,
  };
};
