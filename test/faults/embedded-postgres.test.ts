import { beforeAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { connect } from "#drizzle/database.ts";
import { chooseAddress } from "#drizzle/embedded/address.ts";
import { findBinaries } from "#drizzle/embedded/binaries.ts";
import { chooseLocation, passwordOf } from "#drizzle/embedded/location.ts";
import { isServerAlive, readPidFile } from "#drizzle/embedded/pid-file.ts";
import { launchServer } from "#drizzle/embedded/server.ts";
import type { Embedded } from "#drizzle/embedded/supervisor.ts";
import { systemClock } from "#shared/clock.ts";
import { atEnd } from "#test/support/at-end.ts";
import { ask, askUntilAnswered, keptLog, start } from "#test/support/embedded.ts";
import { familyOf, HAS_PROC, isAlive, postmasterOf, signalFamily } from "#test/support/processes.ts";
import { until } from "#test/support/until.ts";
import { embeddedWorld, pidOf } from "./embedded-world.ts";

const ROOT = process.getuid?.() === 0;

const { path, prepared, newPath, copyOfPrepared, started, startedWith } = embeddedWorld();

/** Resolves once another server than `former` runs on the directory. */
const untilRestarted = (dataDirectory: string, former: number) =>
  until(() => {
    const pid = readPidFile(join(dataDirectory, "postgres/data"))?.pid;
    return pid !== undefined && pid !== former;
  });

/** A cluster whose server recovers and never ends with it: it waits for a log that does not come. */
function recovering(): string {
  const directory = copyOfPrepared();
  const data = join(directory, "postgres/data");
  appendFileSync(join(data, "postgresql.auto.conf"), "hot_standby = off\n");
  const signal = join(data, "standby.signal");
  writeFileSync(signal, "");
  const { uid, gid } = statSync(data);
  chownSync(signal, uid, gid);
  return directory;
}

describe("first and later starts", () => {
  let directory: string;
  let again: Embedded;
  beforeAll(async () => {
    directory = copyOfPrepared();
    again = await start(directory);
  });

  test("what was committed is there at the next start", async () => {
    expect(await ask(again.url, "select answer from kept")).toBe(42);
    expect(again).toMatchObject({ adopted: false, version: expect.stringMatching(/^18\./) });
  });

  test("nothing of the database can be read by others", () => {
    const modeOf = (name: string) => statSync(join(directory, "postgres", name)).mode & 0o077;
    expect(["data", "run", "password", "server.log"].map(modeOf)).toEqual([0, 0, 0, 0]);
    // Whoever can open the lock can take it, and keep a launcher from starting.
    expect(["launcher.lock", "launcher.pid"].map(modeOf)).toEqual([0, 0]);
  });

  test("the gateway's role owns its database and has no power over the server", async () => {
    const powers = "rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls";
    expect(await ask(again.url, `select ${powers} from pg_roles where rolname = current_user`)).toBe(false);
    const owns =
      "select pg_get_userbyid(datdba) = current_user from pg_database where datname = current_database()";
    expect(await ask(again.url, owns)).toBe(true);
  });

  test("a wrong password is refused", async () => {
    const refused = await ask(again.url.replace(/:[0-9a-f]{48}@/, ":wrong@"), "select 1").catch(
      (e: { code: string }) => e.code,
    );
    expect(refused).toBe("28P01");
  });

  test("a second launcher on the same data directory is refused, and the first keeps running", async () => {
    await expect(start(directory)).rejects.toThrow(
      /Another launcher \(process \d+, since \d{4}-\d\d-\d\d \d\d:\d\d UTC\) is already running/,
    );
    expect(await ask(again.url, "select answer from kept")).toBe(42);
  });

  test("a directory that is no cluster is left alone and named", async () => {
    const directory = newPath("foreign");
    mkdirSync(join(directory, "postgres/data"), { recursive: true });
    writeFileSync(join(directory, "postgres/data/thesis.txt"), "chapter one");
    await expect(start(directory)).rejects.toThrow("is not a Postgres data directory");
    expect(existsSync(join(directory, "postgres/data/thesis.txt"))).toBe(true);
  });

  test("a cluster of another major version is not opened", async () => {
    const directory = copyOfPrepared();
    writeFileSync(join(directory, "postgres/data/PG_VERSION"), "14\n");
    await expect(start(directory)).rejects.toThrow(
      /version 14, which the data directory needs.*install Postgres 14 .*tallygate move-database --to .*DATABASE_URL/s,
    );
  });

  test("a cluster whose password was lost says which file to restore", async () => {
    const directory = copyOfPrepared();
    rmSync(join(directory, "postgres/password"));
    await expect(start(directory)).rejects.toThrow(/postgres\/password is missing/);
  });

  test("a password that the cluster refuses is named with its file, and no server is left", async () => {
    const directory = copyOfPrepared();
    writeFileSync(join(directory, "postgres/password"), "another\n");
    await expect(start(directory)).rejects.toThrow(
      /refuses the password in .*postgres\/password \(28P01\)\. Restore this file/,
    );
    expect(existsSync(join(directory, "postgres/data/postmaster.pid"))).toBe(false);
  });

  test("a start that waits for the end of a recovery can be stopped, and leaves no server", async () => {
    const directory = recovering();
    const stopping = new AbortController();
    const said: string[] = [];
    const progress = (text: string) => {
      said.push(text);
      stopping.abort(new Error("stopped"));
    };
    const signal = stopping.signal;
    const options = { dataDirectory: directory, systemRoot: path, log: keptLog(), clock: systemClock };
    await expect(startedWith({ ...options, progress, signal })).rejects.toThrow("stopped");
    expect(said).toEqual(["Postgres is recovering …"]);
    expect(existsSync(join(directory, "postgres/data/postmaster.pid"))).toBe(false);
  });
});

describe("servers that end, and servers that do not", () => {
  test("a killed server is back at the same address with all that was committed", async () => {
    const directory = copyOfPrepared();
    const log = keptLog();
    const embedded = await started(directory, log);
    for (let value = 1; value <= 3; value++) {
      await ask(embedded.url, `insert into kept values (${value})`);
      const killed = pidOf(directory);
      process.kill(killed, "SIGKILL");
      await untilRestarted(directory, killed);
      expect(await askUntilAnswered(embedded.url, "select count(*)::int from kept")).toBe(value + 1);
    }
    expect(log.lines.map((line) => line.message)).toContain("Postgres answers again");
  });

  test("a crash of one of its processes ends the whole server, which is started afresh", async () => {
    const directory = copyOfPrepared();
    const log = keptLog();
    const embedded = await started(directory, log);
    const crashed = pidOf(directory);
    const client = connect(embedded.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    const [backend] = await client<{ pid: number }[]>`select pg_backend_pid() as pid`;
    process.kill(Number(backend?.pid), "SIGKILL");
    await client.end({ timeout: 1 });
    await untilRestarted(directory, crashed);
    expect(await askUntilAnswered(embedded.url, "select answer from kept")).toBe(42);
    expect(log.lines.map((line) => line.message)).toContain("Postgres ended; restarting it");
  });

  test("a stop while a server is being started again leaves no process behind", async () => {
    const directory = copyOfPrepared();
    const embedded = await started(directory);
    const killed = pidOf(directory);
    process.kill(killed, "SIGKILL");
    await untilRestarted(directory, killed);
    await embedded.stop();
    await until(() => !Bun.spawnSync(["ps", "-eo", "args"]).stdout.includes(`${directory}/`));
  });

  test.if(HAS_PROC)(
    "a server that hangs is not waited for as long as one that writes its last pages",
    async () => {
      const embedded = await started(copyOfPrepared());
      const postmaster = await postmasterOf(embedded.data);
      const family = familyOf(postmaster);
      signalFamily(postmaster, "SIGSTOP");
      await embedded.stop();
      expect(isAlive(postmaster)).toBe(false);
      for (const pid of family) if (isAlive(pid)) process.kill(pid, "SIGKILL");
    },
  );

  /** Another process starts the database and is killed with -9 once it answers or recovers; returns the server's number. */
  async function leftByKilledLauncher(directory: string): Promise<number> {
    const script = `
      const { keptLog } = await import(${JSON.stringify(join(import.meta.dir, "../support/embedded.ts"))});
      const { startEmbedded } = await import(${JSON.stringify(join(import.meta.dir, "../../drizzle/embedded/supervisor.ts"))});
      const clock = { now: () => new Date(), monotonicMs: () => performance.now() };
      const progress = (text) => process.stdout.write(text);
      await startEmbedded({ dataDirectory: ${JSON.stringify(directory)}, log: keptLog(), clock, progress });
      progress("up");
      setInterval(() => undefined, 1000);`;
    const launcher = Bun.spawn([process.execPath, "-e", script], {
      // As anywhere but in tests, what it started lives on.
      env: { ...process.env, BUN_FEATURE_FLAG_NO_ORPHANS: undefined },
      stdio: ["ignore", "pipe", "inherit"],
    });
    atEnd(() => launcher.kill("SIGKILL"));
    for await (const _ of launcher.stdout) break;
    const pid = pidOf(directory);
    launcher.kill("SIGKILL");
    await launcher.exited;
    return pid;
  }

  test("a server that recovers ends when its launcher is killed with -9", async () => {
    const directory = recovering();
    const pid = await leftByKilledLauncher(directory);
    await until(() => !isServerAlive(join(directory, "postgres/data"), pid));
  });

  test("a server ends by itself when its launcher is killed with -9, in order and with everything committed", async () => {
    const directory = copyOfPrepared();
    const pid = await leftByKilledLauncher(directory);
    await until(() => !isServerAlive(join(directory, "postgres/data"), pid));
    expect(readFileSync(join(directory, "postgres/server.log"), "utf8")).toContain("smart shutdown");
    expect(existsSync(join(directory, "postgres/data/postmaster.pid"))).toBe(false);
    expect(await ask((await started(directory)).url, "select answer from kept")).toBe(42);
  });

  test("a start while the server of a killed launcher still ends has the database all the same", async () => {
    const directory = copyOfPrepared();
    await leftByKilledLauncher(directory);
    const embedded = await started(directory);
    expect(await askUntilAnswered(embedded.url, "select answer from kept")).toBe(42);
  });

  test("a server that outlived its launcher and its watcher is taken over, kept alive, and ended in the end", async () => {
    const directory = copyOfPrepared();
    const place = chooseLocation(directory);
    const binaries = findBinaries({ account: place.account, copyRoot: path, major: null });
    const spec = {
      place,
      binaries,
      password: passwordOf(place),
      clock: systemClock,
      progress: () => undefined,
    };
    const left = await launchServer(spec, await chooseAddress(place.directory, place.account));
    const embedded = await started(directory);
    expect(embedded.adopted).toBe(true);
    expect(pidOf(directory)).toBe(left.pid);

    process.kill(left.pid, "SIGKILL");
    await untilRestarted(directory, left.pid);
    expect(await askUntilAnswered(embedded.url, "select answer from kept")).toBe(42);
    expect(pidOf(directory)).not.toBe(left.pid);

    await embedded.stop();
    expect(existsSync(join(directory, "postgres/data/postmaster.pid"))).toBe(false);
  });

  test("a server that does not take our password is not touched", async () => {
    const directory = copyOfPrepared();
    const first = await started(directory);
    const twin = newPath("twin");
    mkdirSync(twin);
    chmodSync(twin, 0o711);
    Bun.spawnSync(["cp", "-a", join(directory, "postgres"), join(twin, "postgres")]);
    rmSync(join(twin, "postgres/data"), { recursive: true });
    Bun.spawnSync(["ln", "-s", join(directory, "postgres/data"), join(twin, "postgres/data")]);
    writeFileSync(join(twin, "postgres/password"), "another\n");
    await expect(start(twin)).rejects.toThrow(/runs in .* and cannot be used \(28P01\)/);
    expect(await ask(first.url, "select answer from kept")).toBe(42);
  });
});

test.if(ROOT)(
  "a full disk stops the server, and it is back with every acknowledged row once there is room",
  async () => {
    const disk = newPath("disk");
    mkdirSync(disk);
    if (Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=120m,mode=0711", "tmpfs", disk]).exitCode !== 0)
      return;
    try {
      const directory = join(disk, "data");
      Bun.spawnSync(["cp", "-a", prepared, directory]);
      const log = keptLog();
      const embedded = await start(directory, log);
      await ask(embedded.url, "create table filled as select 0 as id");
      const ballast = join(disk, "ballast");
      Bun.spawnSync(["dd", "if=/dev/zero", `of=${ballast}`, "bs=1M", "count=200"], {
        stdio: ["ignore", "ignore", "ignore"],
      });
      // Two statements, one transaction: a row, and a megabyte that needs room in the log of changes.
      const row =
        "insert into filled values (1); select pg_logical_emit_message(true, '', repeat('x', 1000000))";
      let acknowledged = 0;
      const ended = () => log.lines.some((line) => line.message === "Postgres ended; restarting it");
      // A query may also fail because this machine is busy.
      await until(async () => {
        const isStored = await ask(embedded.url, row).then(
          () => true,
          () => false,
        );
        if (isStored) acknowledged++;
        return ended();
      });
      rmSync(ballast);
      // The last one may have been committed without its answer arriving.
      const rows = await askUntilAnswered(embedded.url, "select count(*)::int - 1 from filled");
      expect(acknowledged).toBeGreaterThan(0);
      expect([acknowledged, acknowledged + 1]).toContain(Number(rows));
      await embedded.stop();
    } finally {
      Bun.spawnSync(["umount", "-l", disk]);
    }
  },
);
