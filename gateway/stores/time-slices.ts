import { dlopen, ptr } from "bun:ffi";

/** Numbers of the two system calls, by processor; no C library below glibc 2.41 has functions for them. */
const CALLS: Readonly<Record<string, { set: number; get: number }>> = {
  x64: { set: 314, get: 315 },
  arm64: { set: 274, get: 275 },
};
/** The kernel's `struct sched_attr` in its first version, and where its members lie. */
const ATTRIBUTES_BYTES = 48;
const POLICY = 4;
const RUNTIME = 24;
const SCHED_OTHER = 0;
const SCHED_BATCH = 3;
const SCHED_IDLE = 5;
/** The kernel's most. */
const LONGEST_NS = 100_000_000n;

/** In place of a thread's number: the calling one. */
export const THIS_THREAD = 0;

/**
 * Gives a thread the longest slices of time. From one with longer slices a thread that wakes takes the core at once
 * (Linux 6.12 and later), and from another only when that one's slice is over, 1.4 ms and more. Shares of the cores stay
 * the same, and it needs no privilege over threads of the same user. Elsewhere, or where it is refused, nothing changes.
 */
export function lengthenSlices(thread: number): void {
  const attributes = attributesOf(thread);
  if (!attributes || attributes.getUint32(POLICY, true) !== SCHED_OTHER) return;
  attributes.setBigUint64(RUNTIME, LONGEST_NS, true);
  schedule()?.set(thread, attributes);
}

/**
 * Lets a thread run only where nothing else wants to. A core that has such threads alone counts as free, so that what wakes
 * is put there instead of behind what runs on another. Slices stay as they are; it can seldom be taken back.
 */
export const leaveCoresFree = (thread: number): void => keepTo(thread, SCHED_IDLE);

/** Lets a thread that wakes wait until what runs on its core sleeps or has had its slice. Slices and share stay as they are. */
export const neverInterrupt = (thread: number): void => keepTo(thread, SCHED_BATCH);

function keepTo(thread: number, policy: number): void {
  const attributes = attributesOf(thread);
  if (!attributes || attributes.getUint32(POLICY, true) !== SCHED_OTHER) return;
  attributes.setUint32(POLICY, policy, true);
  schedule()?.set(thread, attributes);
}

const policyOf = (thread: number): number | null => attributesOf(thread)?.getUint32(POLICY, true) ?? null;

/** Whether a thread runs only where nothing else wants to; null where the kernel does not say. */
export const leavesCoresFree = (thread: number): boolean | null => {
  const policy = policyOf(thread);
  return policy === null ? null : policy === SCHED_IDLE;
};

/** Whether a thread that wakes takes no core from another; null where the kernel does not say. */
export const neverInterrupts = (thread: number): boolean | null => {
  const policy = policyOf(thread);
  return policy === null ? null : policy !== SCHED_OTHER;
};

/** How long a thread runs before another may, in nanoseconds; null where the kernel does not say. */
export const sliceNs = (thread: number): bigint | null =>
  attributesOf(thread)?.getBigUint64(RUNTIME, true) || null;

function attributesOf(thread: number): DataView | null {
  const attributes = new DataView(new ArrayBuffer(ATTRIBUTES_BYTES));
  attributes.setUint32(0, ATTRIBUTES_BYTES, true);
  return schedule()?.get(thread, attributes) ? attributes : null;
}

type Schedule = Record<"get" | "set", (thread: number, attributes: DataView) => boolean>;

/** Opened once: each opening makes code that is never freed. */
let opened: { schedule: Schedule | null } | null = null;
const schedule = (): Schedule | null => {
  opened ??= { schedule: openSchedule() };
  return opened.schedule;
};

/** The two system calls; null where there are none. */
function openSchedule(): Schedule | null {
  const calls = process.platform === "linux" ? CALLS[process.arch] : undefined;
  if (!calls) return null;
  try {
    const { symbols } = dlopen("libc.so.6", {
      syscall: { args: ["i64", "i64", "ptr", "i64", "i64"], returns: "i64" },
    });
    const ask = (call: number, thread: number, attributes: DataView, bytes: number) =>
      symbols.syscall(call, thread, ptr(attributes), bytes, 0) === 0n;
    return {
      get: (thread, into) => ask(calls.get, thread, into, ATTRIBUTES_BYTES),
      set: (thread, from) => ask(calls.set, thread, from, 0),
    };
  } catch {
    return null;
  }
}
