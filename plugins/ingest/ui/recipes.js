// Snippets to copy, with the address and the key of this deployment; docs/sending.md explains them.

const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

export default ({ ingest_url: url, key: known, key_header: header }) => {
  const key = known ?? "svk_YOUR_KEY";
  const { origin, pathname } = new URL(url);
  const base = `${origin}${pathname}`;
  const event = JSON.stringify({ message: "First event from curl", severity: "ERROR" });
  return [
    {
      title: "curl",
      text: `curl -H ${quote(`${header}: ${key}`)} -H 'Content-Type: application/json' \\\n  -d ${quote(event)} ${quote(url)}`,
    },
    {
      title: "Python logging",
      text: `# pip install snaglist-client\nimport logging\n\nfrom snaglist_client import SnaglistHandler\n\n`
        + `logging.getLogger().addHandler(SnaglistHandler("${url}", "${key}"))\nlogging.error("First event from Python")`,
    },
    {
      title: "Web page",
      text: `<script src="${base}ingest.js" data-url="${url.replaceAll("&", "&amp;")}&amp;key=${key}"></script>`,
    },
    {
      title: "Vector",
      text: `[sinks.snaglist]\ntype = "http"\ninputs = ["my_source"]\nuri = "${url}"\ncompression = "gzip"\nencoding.codec = "json"\n`
        + `batch.max_events = 500\nrequest.headers.${header} = "${key}"`,
    },
  ];
};
