// What of a stack is folded: calls that were made again and again, and runs of library frames.

const LONGEST = 20; // frames of a cycle
const SAVED = 2; // frames that a fold has to hide

const same = (one, other) => one.function === other.function && one.file === other.file && one.line === other.line
  && one.column === other.column;

/** How many times the `size` frames from `at` on stand there in a row. */
function times(frames, at, size) {
  let end = at + size;
  while (end < frames.length && same(frames[end], frames[end - size])) end += 1;
  return Math.floor((end - at) / size);
}

/** The cycle from `at` on that covers most frames, the shortest of them: `{ size, count }`. */
function cycle(frames, at) {
  let best = { size: 1, count: 1 };
  for (let size = 1; size <= LONGEST && at + 2 * size <= frames.length; size += 1) {
    const count = times(frames, at, size);
    if (count > 1 && (count - 1) * size >= SAVED && count * size > best.count * best.size) best = { size, count };
  }
  return best;
}

/** Runs of library frames as one fold each; `calls` are `{ frame, … }`. */
function libraries(calls) {
  const parts = [];
  for (const call of calls) {
    const kind = call.frame.in_app ? "frames" : "library";
    if (parts.at(-1)?.kind !== kind) parts.push({ kind, calls: [] });
    parts.at(-1).calls.push(call);
  }
  return parts;
}

/**
 * The parts of a stack in its order. `calls`: `{ frame, … }`; what else they hold is handed on.
 *
 * A part is `{ kind: "frames" | "library", calls }`, or `{ kind: "again", calls, size, count }`: the calls hidden
 * behind the `size` frames before it, which were made `count` times in all. Library frames are folded where there are
 * frames of one's own.
 */
export function fold(calls) {
  const frames = calls.map(({ frame }) => frame);
  const own = frames.some((frame) => frame.in_app);
  const parts = [];
  let plain = [];
  const flush = () => {
    parts.push(...(own ? libraries(plain) : plain.length ? [{ kind: "frames", calls: plain }] : []));
    plain = [];
  };
  for (let at = 0; at < calls.length;) {
    const { size, count } = cycle(frames, at);
    const inside = frames.slice(at, at + size * count);
    const unprinted = size === 1 ? inside.reduce((sum, frame) => sum + frame.repeated, 0) : 0;
    const again = count > 1 || unprinted > 0;
    if (again && (!own || inside.some((frame) => frame.in_app))) {
      plain.push(...calls.slice(at, at + size));
      flush();
      parts.push({ kind: "again", calls: calls.slice(at + size, at + size * count), size, count: count + unprinted });
    } else {
      plain.push(...calls.slice(at, at + size * count));
    }
    at += size * count;
  }
  flush();
  return parts;
}
