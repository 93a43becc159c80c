import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Binaries, initdbOf } from "./binaries.ts";
import { asUser, type SystemUser } from "./system-user.ts";

/** The role that owns an embedded database and everything in it, and has no other rights on its server. */
export const ROLE = "tallygate";

/** The server's superuser, which only the launcher uses: it creates the role and the database. */
export const SUPERUSER = "postgres";

export type NewCluster = {
  binaries: Binaries;
  account: SystemUser | null;
  /** Where to create the cluster; must not exist. Its parent must exist, and the account must be able to enter it. */
  directory: string;
  /** The superuser's. */
  password: string;
};

/**
 * Creates a cluster at `directory`, atomically: a killed `initdb` leaves a directory that starts but is unusable, so it
 * writes to a temporary directory, which is then renamed. Leftovers of killed tries are removed.
 */
export async function initialise(cluster: NewCluster): Promise<void> {
  const parent = dirname(cluster.directory);
  const prefix = `${basename(cluster.directory)}.tmp-`;
  for (const name of readdirSync(parent)) {
    if (name.startsWith(prefix)) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const temporary = join(parent, prefix + crypto.randomUUID().slice(0, 8));
  mkdirSync(temporary, { mode: 0o700 });
  const passwordFile = join(temporary, "password");
  writeFileSync(passwordFile, `${cluster.password}\n`, { mode: 0o600 });
  if (cluster.account) {
    chownSync(temporary, cluster.account.uid, cluster.account.gid);
    chownSync(passwordFile, cluster.account.uid, cluster.account.gid);
  }
  try {
    await runInitdb(cluster, join(temporary, "data"), passwordFile);
    renameSync(join(temporary, "data"), cluster.directory);
    syncDirectory(parent);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function runInitdb(cluster: NewCluster, directory: string, passwordFile: string): Promise<void> {
  // The builtin locale exists from version 17 on; "C" is the same order of bytes for older binaries.
  const locale =
    cluster.binaries.major >= 17 ? ["--locale-provider=builtin", "--locale=C.UTF-8"] : ["--locale=C"];
  const initdb = Bun.spawn(
    [
      initdbOf(cluster.binaries),
      `--pgdata=${directory}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--data-checksums",
      ...locale,
    ],
    {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
      ...asUser(cluster.account),
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const complaint = await new Response(initdb.stderr).text();
  if ((await initdb.exited) !== 0) {
    throw new Error(
      `The database could not be created: initdb ended with ${initdb.exitCode}: ${complaint.trim().slice(-500)}`,
    );
  }
  chmodSync(directory, 0o700);
}

function syncDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  fsyncSync(handle);
  closeSync(handle);
}
