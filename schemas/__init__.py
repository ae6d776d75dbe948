"""JSON Schema 2020-12 files: <api>/<method>-{query,body,response}.json."""
