import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "#shared/error-code.ts";
import type { Address } from "./address.ts";

/** A server's own entry in `postmaster.pid` of its data directory. */
export type PidFile = { pid: number; address: Address | null };

const fileOf = (data: string) => join(data, "postmaster.pid");

/** The server according to `data`'s pid file, or null. `address` is null until the server listens. */
export function readPidFile(data: string): PidFile | null {
  try {
    return parsePidFile(readFileSync(fileOf(data), "utf8"));
  } catch {
    return null;
  }
}

/** Lines: pid, data directory, start time, port, socket directory, listen address, shared memory, status. */
export function parsePidFile(text: string): PidFile | null {
  const [pid, , , port, socketDirectory, listenAddress] = text.split("\n").map((line) => line.trim());
  if (!pid || !/^\d+$/.test(pid)) return null;
  const address: Address | null = socketDirectory?.startsWith("/")
    ? { kind: "socket", directory: socketDirectory }
    : listenAddress && port
      ? { kind: "tcp", port: Number(port) }
      : null;
  return { pid: Number(pid), address };
}

/**
 * Whether the server of `postmaster.pid` runs. A pid proves little: the process may be dead or a zombie, or, commonly
 * in containers, the pid may belong to another process; Postgres then refuses to start.
 */
export function isServerAlive(data: string, pid: number): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform === "linux") return isPostgresIn(data, pid);
  if (process.platform === "win32") return true;
  const ps = Bun.spawnSync(["ps", "-o", "stat=,comm=", "-p", String(pid)])
    .stdout.toString()
    .trim();
  return ps !== "" && !ps.startsWith("Z") && /postgres/.test(ps);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** Only a server's processes are named postgres and have its data directory as their working directory. */
function isPostgresIn(data: string, pid: number): boolean {
  try {
    if (readFileSync(`/proc/${pid}/comm`, "utf8").trim() !== "postgres") return false;
    // A zombie has no working directory.
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data);
  } catch {
    return false;
  }
}

/**
 * Removes `postmaster.pid` if its server has ended; false when a process of that server still lives (then the file must
 * stay: it keeps two servers from one directory).
 */
export function clearStalePidFile(data: string): boolean {
  const file = readPidFile(data);
  if (file === null && !existsSync(fileOf(data))) return true;
  if (file !== null && isServerAlive(data, file.pid)) return false;
  if (process.platform === "linux" && allPids().some((pid) => isPostgresIn(data, pid))) return false;
  rmSync(fileOf(data), { force: true });
  return true;
}

const allPids = (): number[] => readdirSync("/proc").map(Number).filter(Number.isInteger);
