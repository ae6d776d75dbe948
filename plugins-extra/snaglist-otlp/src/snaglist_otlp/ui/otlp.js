// Shows how an exporter sends to this deployment, where nothing was received yet and among the settings.

export default ({ html, api, panel, snippet, number }) => {
  const recipe = ({ endpoint, key, key_header: header }) => `OTEL_EXPORTER_OTLP_LOGS_ENDPOINT='${endpoint}'\n`
    + `OTEL_EXPORTER_OTLP_LOGS_HEADERS='${header}=${key ?? "svo_YOUR_KEY"}'\nOTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/protobuf`;

  const view = (settings) => snippet(recipe(settings), "OpenTelemetry");

  const load = () => api("otlp-settings");

  panel("setup", { id: "otlp", title: "Send OpenTelemetry logs", load, render: (_, settings) => view(settings) });
  panel("settings", {
    id: "otlp",
    title: "OpenTelemetry logs",
    load,
    render: (_, settings) => html`${view(settings)}
      <p>In the last 24 hours: ${number(settings.last_24h.accepted)} stored,
        ${number(settings.last_24h.filtered ?? 0)} left out by severity,
        ${number(settings.last_24h.duplicate)} sent again, ${number(settings.last_24h.invalid)} not understood,
        ${number(settings.last_24h.rate_limited)} over the rate limit.</p>`,
  });
};
