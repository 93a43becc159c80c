import { dlopen, FFIType, ptr } from "bun:ffi";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";

/** The error code with which listening on `host:port` fails (`EADDRINUSE`, `EACCES`, …), or null. */
export function portFault(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve("code" in error ? String(error.code) : "an error"));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** Part of a process's start; the launcher decides both. */
export type Handover = {
  /** Whether the port may be shared with a process that this one replaces, or that will replace it. */
  sharesPort: boolean;
  /** Whether another process has the port now, and is to be replaced. */
  takesOver: boolean;
};

type Address = { hostname: string; port: number };

/**
 * Listens. Processes of one launcher share the port while one replaces the other; two strangers never do, because each
 * looks first. The one that takes over gets all new connections at once, and none is lost when the other one stops.
 * @throws Error if the port is taken.
 */
export async function listenOn(
  { hostname, port }: Address,
  { sharesPort, takesOver }: Handover,
  listen: (options: Address & { reusePort: boolean }) => void,
): Promise<void> {
  if (sharesPort && !takesOver) {
    const fault = await portFault(hostname, port);
    if (fault !== null) throw new Error(`Port ${port} of ${hostname} cannot be used: ${fault}.`);
  }
  listen({ hostname, port, reusePort: sharesPort });
  if (takesOver && process.platform === "linux") steerConnections(port);
}

const SOL_SOCKET = 1;
const SO_ATTACH_REUSEPORT_CBPF = 51;
/** The sockets of a port are numbered in the order in which they began to listen: ours is the second. */
const OURS = 1;
const BPF_RETURN_CONSTANT = 0x06;

/**
 * Has the kernel give all new connections of the port to this process. It would otherwise spread them over both, and reset
 * those that wait for the other one when that closes its socket. If it refuses, they are spread.
 */
function steerConnections(port: number): void {
  try {
    const { symbols } = dlopen("libc.so.6", {
      setsockopt: {
        args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.u32],
        returns: FFIType.i32,
      },
    });
    // struct sock_filter { u16 code; u8 jt, jf; u32 k; } and struct sock_fprog { u16 len; sock_filter *filter; }
    const filter = Buffer.alloc(8);
    filter.writeUInt16LE(BPF_RETURN_CONSTANT, 0);
    filter.writeUInt32LE(OURS, 4);
    const program = Buffer.alloc(16);
    program.writeUInt16LE(1, 0);
    program.writeBigUInt64LE(BigInt(ptr(filter)), 8);
    for (const fd of listenersOn(port))
      symbols.setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, ptr(program), program.length);
  } catch {
    // Another C library, or no /proc.
  }
}

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
