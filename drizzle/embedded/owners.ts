import { chmodSync, lchownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { ClusterLocation } from "./location.ts";

/** Postgres refuses a data directory that others may enter. */
const MODE = 0o700;
/** Checked before each start, because a copy made without owners loses the owner of every file. */
const SAMPLES = ["", "PG_VERSION", "global/pg_control", "base", "pg_wal"];

/** Gives a cluster copied without its owners back to Postgres's user, as root; else an error that says what to do. */
export function repairOwners({ data, account }: ClusterLocation, progress: (text: string) => void): void {
  if (process.platform === "win32") return;
  const uid = account?.uid ?? process.getuid?.() ?? 0;
  const strange = strangerIn(data, uid);
  if (strange !== null && account === null) throw new Error(explanation(data, strange, uid));
  if (strange !== null && account !== null) {
    progress(`Giving the database files in ${data}, which user ${strange} owns, to ${account.name} …`);
    giveAll(data, account);
  }
  if ((lstatSync(data).mode & 0o077) !== 0) chmodSync(data, MODE);
}

/** The owner of a file of the cluster that is not `uid`'s; null if there is none. */
function strangerIn(data: string, uid: number): number | null {
  for (const sample of SAMPLES) {
    const owner = lstatSync(join(data, sample), { throwIfNoEntry: false })?.uid;
    if (owner !== undefined && owner !== uid) return owner;
  }
  return null;
}

const explanation = (data: string, owner: number, uid: number): string =>
  `The database files in ${data} belong to user ${owner}, and this process runs as user ${uid}: they were probably ` +
  `copied without their owners. Run \`chown -R ${uid} ${data}\` as root, or copy again with \`cp -a\` as user ${owner}.`;

/** Changes links themselves, never their targets, and skips hard-linked files: both could be outside the cluster. */
function giveAll(path: string, account: { uid: number; gid: number }): void {
  const found = lstatSync(path);
  if (found.isFile() && found.nlink > 1) return;
  lchownSync(path, account.uid, account.gid);
  if (!found.isDirectory()) return;
  for (const name of readdirSync(path)) giveAll(join(path, name), account);
}
