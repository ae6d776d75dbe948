// Shows the DSN of the application, where nothing was received yet and among the settings.

export default ({ html, api, act, confirm, panel, snippet, number }) => {
  const recipe = (title, text) => html`<section class="block"><h3>${title}</h3>${snippet(text, title)}</section>`;

  const recipes = (dsn) => [
    recipe("Python", `# pip install sentry-sdk\nimport sentry_sdk\n\nsentry_sdk.init("${dsn}")`),
    recipe("JavaScript", `// npm install @sentry/browser, or @sentry/node\nimport * as Sentry from "@sentry/browser";\n\n`
      + `Sentry.init({ dsn: "${dsn}" });`),
  ];

  const renew = () => confirm({
    title: "Make a new DSN",
    text: "The old one works for 60 more minutes: time to give the new one to whatever sends.",
    action: "Make a new DSN",
    run: () => act(() => api.post("sentry-settings", { action: "regenerate", grace_minutes: 60 }), "The DSN is a new one."),
  });

  const view = (settings) => settings.dsn
    ? html`<p><code>${settings.dsn}</code> <ui-copy text=${settings.dsn}></ui-copy></p>${recipes(settings.dsn)}`
    : html`<p>Who may change the settings can see the DSN; its key ends in <code>${settings.key_hint ?? "nothing yet"}</code>.</p>`;

  const load = () => api("sentry-settings");

  panel("setup", { id: "sentry", title: "Use a Sentry SDK", load, render: (_, settings) => view(settings) });
  panel("settings", {
    id: "sentry",
    title: "Sentry SDKs",
    load,
    render: (_, settings) => html`${view(settings)}
      <p>In the last 24 hours: ${number(settings.last_24h.accepted)} stored,
        ${number(settings.last_24h.duplicate)} sent again, ${number(settings.last_24h.invalid)} not understood,
        ${number(settings.last_24h.rate_limited)} over the rate limit.</p>
      ${settings.dsn && html`<p><button class="button" type="button" @click=${renew}>New DSN …</button></p>`}`,
  });
};
