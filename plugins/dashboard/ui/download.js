// Answers as files.

import { failure, request } from "./api.js";

/** Save an answer as the file that the service names; the key goes with the request, which no link could do. */
export async function download(name, query) {
  const response = await request(name, { query });
  if (!response.ok) throw await failure(response);
  const file = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = file;
  link.download = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition"))?.[1] ?? name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(file), 60_000);
}
