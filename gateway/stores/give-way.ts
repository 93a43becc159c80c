import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { join } from "node:path";
import { readAddress } from "#drizzle/database.ts";
import { leaveCoresFree, lengthenSlices, neverInterrupt, THIS_THREAD } from "./time-slices.ts";

/** How much work that can wait gives way to what answers calls: 0 not at all, 19 wholly. */
export const NICENESS = { reports: 19, records: 10 } as const;

/** Asks a connection for its process in the server, and where that server's files lie, if the role may know. */
export const OWN_PROCESS = `select pg_backend_pid() as pid,
  case when pg_has_role('pg_read_all_settings', 'usage') then current_setting('data_directory') end as directory`;

export type OwnProcess = { pid: number; directory: string | null };
/** False where the process's priority certainly stays as it is. */
export type GiveWay = (process: OwnProcess | undefined) => boolean;

/** Whether the database at `url` certainly works on this machine's cores: it is asked through a Unix socket. */
export const isOnThisMachine = (url: string): boolean => readAddress(url).socketPath !== null;

/**
 * What lets a process of the database at `url` give way to calls by as much as `niceness`. Only on Linux, for a server
 * that is asked through a Unix socket, so that it shares this machine's cores, and only where this process may read the
 * server's files and say so; otherwise it does nothing. Only ever lowers a priority, and never throws.
 */
export function givingWay(url: string, niceness: number): GiveWay {
  if (process.platform !== "linux" || !isOnThisMachine(url)) return () => false;
  return (told) => {
    let found = false;
    try {
      found = told?.directory ? isBackendOf(serverIn(told.directory), told.pid) : false;
      if (told && found) lower(told.pid, niceness);
    } catch {
      // Then it has the priority that it has.
    }
    return found;
  };
}

/** The number of the server's first process, from the first line of its own file. */
const serverIn = (directory: string): number =>
  Number(readFileSync(join(directory, "postmaster.pid"), "utf8").split("\n", 1)[0]);

/**
 * Whether the number is here that of a process which the server started for a connection. In another container it may
 * be anybody's. Only one that leads its session may have the session's niceness changed with its own.
 */
function isBackendOf(server: number, pid: number): boolean {
  const isNamed = readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("postgres:");
  // Behind the name, which may hold anything: state, parent, process group, session.
  const [, parent, , session] =
    readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return isNamed && Number(parent) === server && Number(session) === pid;
}

/**
 * Where the kernel shares out the cores among sessions (`sched_autogroup_enabled`), a process's own niceness counts
 * within its session only, and each of Postgres's processes has one to itself: the session's must be lowered too.
 */
function lower(pid: number, niceness: number): void {
  lowerOwn(pid, niceness);
  const group = `/proc/${pid}/autogroup`;
  const [, present] = /nice (-?\d+)$/.exec(readFileSync(group, "utf8").trim()) ?? [];
  if (present !== undefined && Number(present) < niceness)
    writeFileSync(group, `${niceness}`, { flag: "r+" });
}

/** Of a thread or process alone: its share of the cores, that what wakes need not wait for it, and where that is put. */
function lowerOwn(pid: number, niceness: number): void {
  if (getPriority(pid) < niceness) setPriority(pid, niceness);
  lengthenSlices(pid);
  if (niceness === NICENESS.reports) leaveCoresFree(pid);
  else neverInterrupt(pid);
}

/** The calling thread gives way to all others. Only Linux can have that; elsewhere it would be the whole process. */
export function giveWayHere(niceness: number): void {
  if (process.platform !== "linux") return;
  try {
    lowerOwn(THIS_THREAD, niceness);
  } catch {
    // Then it has the priority that it has.
  }
}

/** Threads that the runtime has for itself, by how their names begin: they compile, collect garbage and give memory back. */
const HELPERS = /^(JITWorker|JSCWarmUp|HeapHelper|mi-scavenger)/;

/** The runtime ends such threads when they have nothing to do, and starts others. */
const LOOK_FOR_HELPERS_MS = 5_000;

/**
 * Calls need not wait for what the runtime does beside them. Its share stays the usual one: calls may wait for its result.
 * From now on, for as long as the process lives.
 */
export function helpersGiveWay(everyMs = LOOK_FOR_HELPERS_MS): void {
  if (process.platform !== "linux") return;
  lowerHelpers();
  setInterval(lowerHelpers, everyMs).unref();
}

function lowerHelpers(): void {
  try {
    for (const thread of readdirSync("/proc/self/task")) {
      if (!HELPERS.test(readFileSync(`/proc/self/task/${thread}/comm`, "utf8"))) continue;
      lengthenSlices(Number(thread));
      neverInterrupt(Number(thread));
    }
  } catch {
    // One has ended meanwhile; the others are seen to next time.
  }
}
