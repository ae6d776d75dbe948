// Sends the errors of a web page to snaglist. Include it before other scripts:
//   <script src="https://logs.example.com/ingest.js" data-url="https://logs.example.com/?api=ingest&app=default&key=svk_…"
//           data-release="v2.4.0" data-environment="production"></script>
// and call `snaglist.send({ message: "…", severity: "WARNING", context: {…} })` for events of your own.
(() => {
  const { url, release, environment, channel = "browser" } = document.currentScript?.dataset ?? {};
  if (!url) return;

  const LIMIT = 60000; // browsers refuse beacons over 64 KiB
  const PAUSE = 1000; // how long events are gathered
  const MOST = 50; // waiting events; a page in a loop of errors sends no more than that a second
  let waiting = [];
  let timer;

  const id = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const short = (text, length) => String(text ?? "").slice(0, length);

  // A text/plain body needs no permission from the server beforehand, and a beacon survives the end of the page.
  const beacon = (events) => {
    const body = JSON.stringify({ events });
    if (body.length > LIMIT && events.length > 1) {
      const half = events.length >> 1;
      beacon(events.slice(0, half));
      beacon(events.slice(half));
    } else if (!navigator.sendBeacon?.(url, body)) {
      fetch(url, { method: "POST", body, keepalive: body.length <= LIMIT, credentials: "omit" }).catch(() => {});
    }
  };

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const events = waiting;
    waiting = [];
    if (events.length) beacon(events);
  };

  const send = (event) => {
    if (waiting.length >= MOST) return;
    const request = { url: location.href.split("?")[0].split("#")[0], user_agent: navigator.userAgent };
    waiting.push({
      event_id: id(), timestamp: new Date().toISOString(), channel, release, environment, request, ...event,
    });
    timer ??= setTimeout(flush, PAUSE);
  };

  const report = (error, fallback, place) => {
    const known = error instanceof Error;
    send({
      message: short(known ? error.message || error.name : fallback, 5000) || "Unknown error",
      exception_class: known ? short(error.name, 255) : undefined,
      stack: known ? short(error.stack, 30000) : place,
    });
  };

  addEventListener("error", ({ error, message, filename, lineno, colno }) => {
    if (message || error) report(error, message, filename ? `at ${filename}:${lineno}:${colno}` : undefined);
  });
  addEventListener("unhandledrejection", ({ reason }) => report(reason, `Unhandled rejection: ${short(reason, 1000)}`));
  addEventListener("pagehide", flush);
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && flush());

  globalThis.snaglist = { send, flush };
})();
