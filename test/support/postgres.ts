import { createHash } from "node:crypto";
import {
  chownSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { type Binaries, findBinaries, postgresOf } from "#drizzle/embedded/binaries.ts";
import { initialise, ROLE, SUPERUSER } from "#drizzle/embedded/initialise.ts";
import { asUser, chooseUser, type SystemUser } from "#drizzle/embedded/system-user.ts";
import { MIGRATIONS_DIRECTORY, migrate } from "#drizzle/migrate.ts";
import { ensurePartitions, monthsAround } from "#drizzle/partitions.ts";
import { atEnd } from "./at-end.ts";
import { usedBy } from "./processor-time.ts";

export type TestDatabase = { url: string; close(): Promise<void> };

const PASSWORD = "test";
const TEMPLATE = "tallygate_template";
/** The same, with the partitions that a gateway would make at its start, a sixth of what its start costs Postgres. */
const TEMPLATE_OF_GATEWAYS = "tallygate_template_of_gateways";

/** Names the directory of the server that `test/run.ts` started for all suites. */
export const SERVER_DIRECTORY = "TALLYGATE_TEST_SERVER";

/**
 * A fresh, migrated database, dropped when the test or the file that asked for it ends. All test databases are on one
 * server: the one that `test/run.ts` started, or one of this process, which ends with it. One of a gateway has the
 * partitions of these months.
 * Open the address with `connect` or `openDatabase` of `#drizzle/database.ts`, as the product does.
 */
export async function testDatabase({ ofGateway = false } = {}): Promise<TestDatabase> {
  const server = await sharedServer();
  const template = ofGateway ? TEMPLATE_OF_GATEWAYS : TEMPLATE;
  const name = `t_${crypto.randomUUID().replaceAll("-", "")}`;
  await server.admin.unsafe(`create database ${name} template ${template} strategy file_copy owner ${ROLE}`);
  const close = atEnd(async () => {
    await server.admin.unsafe(`drop database if exists ${name} with (force)`);
  });
  return { url: server.urlOf(name), close };
}

/** A client of a test database with one connection, which ends with the test or the file. */
export function testSql(url: string): postgres.Sql {
  const sql = connect(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  atEnd(() => sql.end({ timeout: 1 }));
  return sql;
}

type Server = { admin: postgres.Sql; urlOf(database: string): string };

type Launched = Server & {
  directory: string;
  /** Seconds of processor time so far, without connections that are still open; null: not known. */
  used(): number | null;
  /** A clean end, after which the files are complete. */
  shutDown(): Promise<void>;
  /** Removes the directory and whatever still runs in it. */
  remove(): Promise<void>;
};

let server: Promise<Server> | undefined;

function sharedServer(): Promise<Server> {
  const directory = process.env[SERVER_DIRECTORY];
  server ??= directory ? serverIn(directory) : startTestServer();
  return server;
}

const serverIn = async (directory: string): Promise<Server> => {
  return { admin: await answering(adminUrl(directory)), urlOf: addressIn(directory) };
};

const MEMORY = "/dev/shm";
/** More than the databases of all suites take at a time, with their log. */
const MEMORY_BYTES = 4 * 1024 ** 3;

/**
 * Where a server's files are: in memory, where there is room. A new database is some 300 files, and a file system whose
 * files were just removed may take most of a second of CPU for them (ext4 without a journal).
 */
function placeOfRuns(root: string): string {
  if (!existsSync(MEMORY)) return root;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_BYTES ? MEMORY : root;
}

/** Starts a server from a prepared copy below the temporary directory; it ends with this process, however that ends. */
export async function startTestServer(): Promise<Launched> {
  const account = chooseUser("");
  const root = join(tmpdir(), `tallygate-test-${account?.uid ?? process.getuid?.() ?? 0}`);
  mkdirSync(root, { recursive: true, mode: 0o755 });
  if (account) chownSync(root, account.uid, account.gid);
  const binaries = findBinaries({ account, copyRoot: join(root, "binaries"), major: null });
  const snapshot = await preparedCluster(root, binaries, account);
  const directory = mkdtempSync(join(placeOfRuns(root), "tallygate-run-"));
  if (account) chownSync(directory, account.uid, account.gid);
  copyCluster(snapshot, join(directory, "data"), account);
  return launch(binaries, account, directory);
}

/** A stopped cluster that holds the migrated template; made once per set of migrations. */
async function preparedCluster(
  root: string,
  binaries: Binaries,
  account: SystemUser | null,
): Promise<string> {
  const prepared = join(root, `cluster-${clusterKey(binaries)}`);
  if (existsSync(prepared)) return prepared;
  removeOld(root);
  const directory = mkdtempSync(join(root, "prepare-"));
  if (account) chownSync(directory, account.uid, account.gid);
  await initialise({ binaries, account, directory: join(directory, "data"), password: PASSWORD });
  await Bun.write(join(directory, "data/pg_hba.conf"), TRUSTED);
  const server = await launch(binaries, account, directory);
  await server.admin.unsafe(`create role ${ROLE} login createdb password '${PASSWORD}'`);
  await server.admin.unsafe(`create database ${TEMPLATE} owner ${ROLE}`);
  await migrate(server.urlOf(TEMPLATE));
  await server.admin.unsafe(`create database ${TEMPLATE_OF_GATEWAYS} template ${TEMPLATE} owner ${ROLE}`);
  await ensurePartitions(server.urlOf(TEMPLATE_OF_GATEWAYS), new Date());
  await server.shutDown();
  try {
    renameSync(join(directory, "data"), prepared);
  } catch (error) {
    if (!existsSync(prepared)) throw error;
  }
  await server.remove();
  return prepared;
}

function clusterKey(binaries: Binaries): string {
  const hash = createHash("sha256").update(`5 ${binaries.version} ${monthsAround(new Date())[0]?.from}`);
  for (const name of readdirSync(MIGRATIONS_DIRECTORY).sort()) {
    const path = join(MIGRATIONS_DIRECTORY, name);
    if (statSync(path).isFile()) hash.update(readFileSync(path));
  }
  return hash
    .update(readFileSync(join(MIGRATIONS_DIRECTORY, "meta", "_journal.json")))
    .digest("hex")
    .slice(0, 12);
}

/** Removes what older migrations and killed processes left, once it has lain for a day. */
function removeOld(root: string): void {
  for (const name of readdirSync(root)) {
    const path = join(root, name);
    if (name !== "binaries" && Date.now() - statSync(path).mtimeMs > 86_400_000)
      rmSync(path, { recursive: true, force: true });
  }
}

/** Copies as the account itself, so that the copy belongs to it. */
function copyCluster(from: string, to: string, account: SystemUser | null): void {
  const copy = Bun.spawnSync(["cp", "-R", from, to], {
    cwd: "/",
    ...asUser(account),
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (copy.exitCode !== 0) throw new Error(`cp failed: ${copy.stderr.toString()}`);
}

/**
 * Ends the server and removes its directory once nobody holds the pipe `alive` open for writing any more, which comes
 * to pass however this process ends. It runs in the background of a shell that ends at once, because `bun test` kills
 * the children that it knows of when a test takes too long.
 */
const KEEPER = `{
  "$@" </dev/null & server=$!
  read -r _ <"$RUN_DIRECTORY/alive"
  kill -QUIT $server; wait $server; rm -rf "$RUN_DIRECTORY"
} >/dev/null 2>&1 &`;

/** A password is worked out for each connection, of which suites make thousands: only the superuser's is asked for. */
const TRUSTED = `local all ${SUPERUSER} scram-sha-256\nlocal all all trust\n`;

const FLAGS = {
  listen_addresses: "",
  fsync: "off",
  full_page_writes: "off",
  max_connections: "400",
  shared_buffers: "128MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "1GB",
  log_min_messages: "panic",
};

async function launch(binaries: Binaries, account: SystemUser | null, directory: string): Promise<Launched> {
  const flags = Object.entries({ ...FLAGS, unix_socket_directories: directory }).flatMap(([k, v]) => [
    "-c",
    `${k}=${v}`,
  ]);
  const alive = openPipe(join(directory, "alive"));
  const keeper = Bun.spawn(
    ["/bin/sh", "-c", KEEPER, "sh", postgresOf(binaries), "-D", join(directory, "data"), ...flags],
    {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", RUN_DIRECTORY: directory },
      ...asUser(account),
      detached: true,
      stdio: ["ignore", "ignore", "ignore"],
    },
  );
  await keeper.exited;
  const admin = await answering(adminUrl(directory));
  const pidFile = join(directory, "data", "postmaster.pid");
  const pid = () => Number(readFileSync(pidFile, "utf8").split("\n", 1)[0]);
  return {
    directory,
    admin,
    urlOf: addressIn(directory),
    used: () => usedBy(pid()),
    shutDown: async () => {
      await admin.end({ timeout: 1 });
      process.kill(pid(), "SIGINT");
      while (existsSync(pidFile)) await Bun.sleep(5);
    },
    remove: async () => {
      closeSync(alive);
      while (existsSync(directory)) await Bun.sleep(5);
    },
  };
}

/** Addresses for the role that the product has on its embedded server, too: it owns its database, and no more. */
const addressIn = (directory: string) => (database: string) =>
  `postgres://${ROLE}:${PASSWORD}@localhost/${database}?host=${encodeURIComponent(directory)}`;

const adminUrl = (directory: string): string =>
  `postgres://${SUPERUSER}:${PASSWORD}@localhost/postgres?host=${encodeURIComponent(directory)}`;

/** A named pipe, held open for writing by this process; opening it for reading and writing never waits. */
function openPipe(path: string): number {
  Bun.spawnSync(["mkfifo", "-m", "644", path]);
  return openSync(path, constants.O_RDWR);
}

async function answering(url: string): Promise<postgres.Sql> {
  const admin = connect(url, { name: "test", max: 4, statementTimeoutMs: 60_000 });
  for (let tries = 0; ; tries++) {
    try {
      await admin`select 1`;
      return admin;
    } catch (error) {
      if (tries > 500) throw error;
      await Bun.sleep(10);
    }
  }
}
