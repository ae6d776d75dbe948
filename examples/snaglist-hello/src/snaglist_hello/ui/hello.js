// A panel beside every issue: snaglist hands over its template function and its API client.
export default ({ html, api, panel, plural }) => {
  panel("issue.side", {
    id: "hello",
    title: "Hello",
    load: () => api("hello"),
    render: (issue, words) =>
      html`<ul>${Array.from(words.data, ({ word, count }) => html`<li>${word}: ${plural(count, "event")}</li>`)}</ul>`,
  });
};
