// Two dates to choose any time range of the list.

/** What `ended` gets: the range as the address takes it, or null when nothing was chosen; `hint` says how exact it is. */
export default (ui, ended, hint) => {
  const { html } = ui;
  const stamped = (value) => (value ? `${value.replace("T", " ")}:00`.slice(0, 19) : null);

  function submit(event) {
    event.preventDefault();
    const { from, to } = Object.fromEntries(new FormData(event.target));
    ended({ from: stamped(from), to: stamped(to) });
  }

  const field = (id, label, value) => html`<label>${label} <input id=${`range-${id}`} name=${id} type="datetime-local"
    .value=${(value ?? "").slice(0, 16).replace(" ", "T")} /></label>`;

  return ({ from, to }) => html`<form class="toolbar dates" aria-label="Time range in UTC" @submit=${submit}>
    ${field("from", "From", from)} ${field("to", "to", to)} <span class="faint">${hint}</span>
    <button class="button button-main">Show</button>
    <button class="button" type="button" @click=${() => ended(null)}>Cancel</button>
  </form>`;
};
