// Sends a file in pieces, one after another: the service keeps each, so that one that was lost on the way is sent again.

const FIRST = 128 * 1024;
const [QUICK, SLOW] = [400, 1600]; // milliseconds of a piece: then the next one is larger, or smaller
const ATTEMPTS = 6;
const PAUSE = 1000;

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Send a piece; while the service cannot be reached, again and again. */
async function persist(send, paused) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (error.status !== 0 || attempt === ATTEMPTS) throw error;
      paused();
      await wait(PAUSE * attempt);
    }
  }
}

/**
 * Send `item.file` as `item.name`; `item.received` grows meanwhile. Gives the answer to the last piece, or null when
 * `item.cancelled` was set.
 */
export async function sendFile(api, item, { piece_bytes: largest }, changed) {
  const { app, file, name } = item;
  const modified = new Date(file.lastModified).toISOString().slice(0, 19).replace("T", " ");
  let upload;
  let again = false;
  let bytes = Math.min(FIRST, largest);
  while (!item.cancelled) {
    const began = performance.now();
    const piece = file.slice(item.received, item.received + bytes);
    const query = { app, name, size: file.size, offset: item.received, upload, modified_at: modified };
    const answer = await persist(() => api.post("uploads", piece, query), () => {
      item.waits = true;
      changed();
    }).catch((error) => {
      // The service knows no part: all was in place and only its answer was lost, or it lay there for a day. The answer to a first piece tells which.
      if (error.status !== 404 || !upload || again) throw error;
      again = true;
      return { received: 0 };
    });
    Object.assign(item, { waits: false, received: answer.received });
    upload = answer.upload;
    if (answer.job_id) return answer;
    const took = performance.now() - began;
    if (took < QUICK) bytes = Math.min(2 * bytes, largest);
    else if (took > SLOW) bytes = Math.max(bytes / 2, FIRST / 4);
    changed();
  }
  if (upload) await api.delete("uploads", undefined, { app, upload });
  return null;
}

/** Wait until a job has ended; gives it as it is then. */
export function ended(ui, item, job, changed) {
  return new Promise((resolve) => {
    const stop = ui.watch("jobs", { app: item.app, id: job }, ({ data }) => {
      item.job = data;
      if (["queued", "running"].includes(data.status)) return void changed();
      stop();
      resolve(data);
    }, 0.5);
  });
}
