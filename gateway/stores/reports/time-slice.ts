import { dlopen, FFIType, ptr } from "bun:ffi";
import { getPriority } from "node:os";

/** Linux's number of `sched_setattr`, for which not every C library has a name. */
const CALL: Partial<Record<NodeJS.Architecture, number>> = { x64: 314, arm64: 274 };
const GLIBC = "libc.so.6";
const MUSL = `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`;

/** `SCHED_BATCH`: an ordinary process that does not interrupt others when it wakes. */
const BATCH = 3;
/** The longest that there is. */
const SLICE_NANOSECONDS = 100_000_000n;
/** `struct sched_attr` as it was at first: no later member is needed. */
const ATTRIBUTES_BYTES = 48;

/**
 * Has a process of this machine, or with 0 the calling thread, work in long slices of time. Since Linux 6.12 whatever
 * wakes with a shorter one, as all others have, interrupts it at once, where it waited for the next tick of the clock
 * before. Its niceness stays. Never throws; elsewhere it does nothing.
 */
export function workInLongSlices(pid: number): void {
  const call = CALL[process.arch];
  if (process.platform !== "linux" || call === undefined) return;
  try {
    const library = openLibrary();
    library.symbols.syscall(call, pid, ptr(attributes(getPriority(pid))), 0);
    library.close();
  } catch {
    // Then its slices are as they are.
  }
}

function openLibrary() {
  const { i64, i32, u32, pointer } = FFIType;
  const open = (name: string) =>
    dlopen(name, { syscall: { args: [i64, i32, pointer, u32], returns: i64 } } as const);
  try {
    return open(GLIBC);
  } catch {
    return open(MUSL);
  }
}

/** Size, policy, flags, niceness, priority, runtime; deadline and period are of other policies. */
function attributes(niceness: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(ATTRIBUTES_BYTES));
  const little = true;
  bytes.setUint32(0, ATTRIBUTES_BYTES, little);
  bytes.setUint32(4, BATCH, little);
  bytes.setInt32(16, niceness, little);
  bytes.setBigUint64(24, SLICE_NANOSECONDS, little);
  return new Uint8Array(bytes.buffer);
}
