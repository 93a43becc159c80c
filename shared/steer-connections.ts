import { dlopen, FFIType, ptr } from "bun:ffi";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const SOL_SOCKET = 1;
const SO_ATTACH_REUSEPORT_CBPF = 51;

/** Classic BPF: the instructions that return a number, or one of several at random. */
const RETURN_CONSTANT = 0x06;
const RETURN_ACCUMULATOR = 0x16;
const LOAD_WORD = 0x20;
const ADD_CONSTANT = 0x04;
const MODULO_CONSTANT = 0x94;
/** Loading this "word of the packet" gives a random number. */
const RANDOM = 0xff_ff_f0_38;

type Instruction = readonly [code: number, constant: number];

/** A port's listening sockets, numbered as they began. When one closes, the last one gets its number. */
export type Sockets = { first: number; count: number };

/**
 * Makes the kernel give all new connections of the port to these sockets, in any process, or to any socket if there is
 * none of that number. Otherwise it spreads them over all sockets, and resets those that wait for one that closes.
 * Does nothing if the kernel refuses, or on systems other than Linux.
 */
export function steerConnections(port: number, sockets: Sockets): void {
  if (process.platform !== "linux") return;
  try {
    const { symbols } = dlopen("libc.so.6", {
      setsockopt: {
        args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.u32],
        returns: FFIType.i32,
      },
    });
    const instructions = instructionsFor(sockets);
    // struct sock_filter { u16 code; u8 jt, jf; u32 k; } and struct sock_fprog { u16 len; sock_filter *filter; }
    const filter = Buffer.alloc(8 * instructions.length);
    for (const [at, [code, constant]] of instructions.entries()) {
      filter.writeUInt16LE(code, 8 * at);
      filter.writeUInt32LE(constant, 8 * at + 4);
    }
    const program = Buffer.alloc(16);
    program.writeUInt16LE(instructions.length, 0);
    program.writeBigUInt64LE(BigInt(ptr(filter)), 8);
    for (const fd of listenersOn(port))
      symbols.setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, ptr(program), program.length);
  } catch {
    // Another C library, or no /proc.
  }
}

const instructionsFor = ({ first, count }: Sockets): readonly Instruction[] =>
  count === 1
    ? [[RETURN_CONSTANT, first]]
    : [
        [LOAD_WORD, RANDOM],
        [MODULO_CONSTANT, count],
        [ADD_CONSTANT, first],
        [RETURN_ACCUMULATOR, 0],
      ];

const LISTEN_STATE = "0A";

/** This process's descriptors that listen on the port. */
function listenersOn(port: number): number[] {
  const sockets = new Set<string>();
  for (const table of ["tcp", "tcp6"]) {
    const lines = readFileSync(`/proc/self/net/${table}`, "utf8").trim().split("\n").slice(1);
    for (const line of lines) {
      const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
      const isOurs = Number.parseInt(local.split(":")[1] ?? "", 16) === port && state === LISTEN_STATE;
      if (isOurs) sockets.add(`socket:[${inode}]`);
    }
  }
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => sockets.has(linkOf(fd)));
}

function linkOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return "";
  }
}
