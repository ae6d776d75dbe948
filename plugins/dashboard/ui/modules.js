// The browser modules of areas and plugins, as the page names them.

import { register } from "./registry.js";
import { toast } from "./widgets.js";

const entries = JSON.parse(document.getElementById("boot").textContent).modules.map((entry, place) => ({ ...entry, place }));

let registering = Promise.resolve();

/** Fetch the `wanted` modules that were not fetched yet and let them register with what they get, `kit`. */
export default function fetchModules(wanted, kit) {
  const batch = entries.filter(wanted);
  // Fetched side by side, registered in order: the network must not decide who comes first.
  for (const entry of batch) entry.fetching ??= import(new URL(entry.module, document.baseURI));
  return (registering = registerAll(batch, kit, registering));
}

async function registerAll(batch, kit, before) {
  const modules = await Promise.allSettled(batch.map(({ fetching }) => fetching));
  await before;
  modules.forEach(({ value, reason }, at) => {
    const { plugin, registered } = batch[at];
    if (registered) return;
    batch[at].registered = true;
    try {
      if (reason) throw reason;
      register(batch[at], value.default, kit);
    } catch (error) {
      console.error(`plugin ${plugin}:`, error);
      toast(`The dashboard part of "${plugin}" failed: ${error.message}`, { error: true });
    }
  });
}
