// Pieces that the list and the page of an issue share.

export default ({ html, keyed, level, plural }) => {
  const chip = (tag) => html`<span class="chip" vars=${{ "--tag": tag.color }}>${tag.name}</span>`;
  const chips = (tags) => keyed(tags, ({ id }) => id, chip);
  const badge = (severity) => html`<span class="badge" data-level=${severity}>${level(severity)}</span>`;

  /** That alerts are silent, and how long; null when they are not. */
  function silence({ snoozed_until: until, snooze_count: events }) {
    if (!until && !events) return null;
    return html`<span class="fact">Snoozed ${until ? `until ${until.slice(0, 16)} UTC` : `for ${plural(events, "more event")}`}</span>`;
  }

  return { chips, badge, silence };
};

/** Run `task`; what may not be seen, or is not there, gives `value`. */
export const optional = (task, value) =>
  task.catch((error) => ([403, 404].includes(error.status) ? value : Promise.reject(error)));
