import { dlopen, ptr } from "bun:ffi";

/** Numbers of the two system calls, by processor; no C library below glibc 2.41 has functions of these names. */
const CALLS: Readonly<Record<string, { set: number; get: number }>> = {
  x64: { set: 314, get: 315 },
  arm64: { set: 274, get: 275 },
};
/** The kernel's `struct sched_attr` in its first version, and where its members lie. */
const ATTRIBUTES_BYTES = 48;
const POLICY = 4;
const RUNTIME = 24;
const SCHED_OTHER = 0;
const THIS_THREAD = 0;
/** The kernel's least. */
const SHORTEST_NS = 100_000n;

/**
 * Asks Linux for the shortest slice of time for the calling thread and those it starts from now on. A thread that wakes
 * takes the core at once from one with longer slices (kernel 6.12 and later); with the usual ones it waits until the
 * other's, 1.4 ms and more, is over. Its share of the cores stays the same, and it needs no privilege. Elsewhere, or
 * where it is refused, nothing changes. Never throws.
 */
export function takeShortSlices(): void {
  const attributes = sliceOfThisThread();
  if (!attributes || attributes.getUint32(POLICY, true) !== SCHED_OTHER) return;
  attributes.setBigUint64(RUNTIME, SHORTEST_NS, true);
  schedule()?.set(attributes);
}

/** How long the calling thread runs before another may, in nanoseconds; null where the kernel does not say. */
export function sliceNs(): bigint | null {
  return sliceOfThisThread()?.getBigUint64(RUNTIME, true) || null;
}

function sliceOfThisThread(): DataView | null {
  const attributes = new DataView(new ArrayBuffer(ATTRIBUTES_BYTES));
  attributes.setUint32(0, ATTRIBUTES_BYTES, true);
  return schedule()?.get(attributes) ? attributes : null;
}

/** The two system calls; null where there are none. */
function schedule() {
  const calls = process.platform === "linux" ? CALLS[process.arch] : undefined;
  if (!calls) return null;
  try {
    const { symbols } = dlopen("libc.so.6", {
      syscall: { args: ["i64", "i64", "ptr", "i64", "i64"], returns: "i64" },
    });
    const ask = (call: number, attributes: DataView, bytes: number) =>
      symbols.syscall(call, THIS_THREAD, ptr(attributes), bytes, 0) === 0n;
    return {
      get: (attributes: DataView) => ask(calls.get, attributes, ATTRIBUTES_BYTES),
      set: (attributes: DataView) => ask(calls.set, attributes, 0),
    };
  } catch {
    return null;
  }
}
