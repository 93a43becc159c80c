import { createHash, randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { readSecretFile, writeSecretFile } from "#shared/secret-file.ts";
import { asUser, chooseUser, type SystemUser } from "./system-user.ts";

/** Where root keeps databases that Postgres's own user could not reach below the data directory. */
export const SYSTEM_ROOT = "/var/lib/tallygate";

/**
 * `directory` contains the password, the lock, the log and, in `data`, the cluster. Only `data` belongs to the account:
 * root must not follow links that another user could have created.
 */
export type ClusterLocation = { directory: string; data: string; account: SystemUser | null };

/**
 * The location of the embedded database of `dataDirectory` (absolute): its `postgres`; or for root, if Postgres's own user
 * cannot get there, in `<systemRoot>/<hash of dataDirectory>`. The directory exists afterwards. An existing cluster is
 * found again, and runs as the user who owns it.
 * @throws Error with what to do when neither place can be used.
 */
export function chooseLocation(dataDirectory: string, systemRoot = SYSTEM_ROOT): ClusterLocation {
  const { near, far } = placesOf(dataDirectory, systemRoot);
  const root = process.getuid?.() === 0;
  const farIsUsed = root && !existsSync(join(near, "data")) && existsSync(join(far, "data"));
  const account = chooseUser(join(farIsUsed ? far : near, "data"));
  const candidates = farIsUsed ? [far] : root && !existsSync(join(near, "data")) ? [near, far] : [near];
  for (const directory of candidates) {
    const existed = existsSync(directory);
    if (prepare(directory, account)) return { directory, data: join(directory, "data"), account };
    if (!existed) removeEmpty(directory);
  }
  const who = account === null ? "you" : `the user ${account.name}, whom Postgres runs as here`;
  throw new Error(
    `The database directory ${candidates.join(" (or ")}${candidates.length > 1 ? ")" : ""} cannot be read and written by ${who}. Give it to that user, choose another DATA_DIR, or set DATABASE_URL.`,
  );
}

const placesOf = (dataDirectory: string, systemRoot: string) => ({
  near: join(dataDirectory, "postgres"),
  far: join(systemRoot, createHash("sha256").update(dataDirectory).digest("hex").slice(0, 16)),
});

/** The cluster that already exists for `dataDirectory` (absolute); null if there is none. Makes nothing. */
export function existingCluster(dataDirectory: string, systemRoot = SYSTEM_ROOT): string | null {
  const { near, far } = placesOf(dataDirectory, systemRoot);
  const found = [near, far].find((directory) => existsSync(join(directory, "data", "PG_VERSION")));
  return found === undefined ? null : join(found, "data");
}

function prepare(directory: string, account: SystemUser | null): boolean {
  // The account must get through to `data`; the files on the way guard themselves.
  const mode = account === null ? 0o700 : 0o711;
  try {
    makeDirectory(dirname(directory), mode);
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, mode);
    return account === null || canEnter(directory, account);
  } catch {
    return false;
  }
}

/** Creates a directory with that mode, whatever the umask; an existing one keeps its own. */
export function makeDirectory(directory: string, mode: number): void {
  if (mkdirSync(directory, { recursive: true }) !== undefined) chmodSync(directory, mode);
}

/** Tries it as that user: modes alone do not include access lists and mounts. */
function canEnter(directory: string, account: SystemUser): boolean {
  const probe = Bun.spawnSync(["/bin/sh", "-c", 'cd "$1"', "sh", directory], {
    cwd: "/",
    ...asUser(account),
    stdio: ["ignore", "ignore", "ignore"],
  });
  return probe.exitCode === 0;
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // It was never made, or is not empty after all.
  }
}

/**
 * The password of the cluster at `place`, created by the first call and then kept. A running server that
 * accepts it is ours.
 */
export function passwordOf(place: ClusterLocation): string {
  const file = join(place.directory, "password");
  const kept = readSecretFile(file);
  if (kept !== null) return kept;
  if (existsSync(place.data)) {
    throw new Error(
      `The file ${file} is missing, so the database in ${place.data} cannot be opened. Restore it from a backup.`,
    );
  }
  return writeSecretFile(file, randomBytes(24).toString("hex"));
}
