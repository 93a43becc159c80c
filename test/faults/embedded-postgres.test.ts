import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { connect } from "#drizzle/database.ts";
import { chooseAddress, urlOf } from "#drizzle/embedded/address.ts";
import { findBinaries } from "#drizzle/embedded/binaries.ts";
import { chooseLocation, passwordOf } from "#drizzle/embedded/location.ts";
import { isServerAlive, readPidFile } from "#drizzle/embedded/pid-file.ts";
import { adoptServer, launchServer, stopServer } from "#drizzle/embedded/server.ts";
import { type Embedded, startEmbedded } from "#drizzle/embedded/supervisor.ts";
import { asUser, chooseUser } from "#drizzle/embedded/system-user.ts";
import { systemClock } from "#shared/clock.ts";
import { ask, askUntilAnswered, keptLog, scratch, start } from "#test/support/embedded.ts";
import { freePort } from "#test/support/ports.ts";
import { until } from "#test/support/until.ts";

const ROOT = process.getuid?.() === 0;
const LINUX = process.platform === "linux";

const space = scratch();
/** A data directory with a stopped cluster in which `kept` holds 42. */
const prepared = join(space.path, "prepared");
const running: Embedded[] = [];
const spawned: Bun.Subprocess[] = [];
let count = 0;

beforeAll(async () => {
  const first = await start(prepared);
  await ask(first.url, "create table kept as select 42 as answer");
  await first.stop();
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((it) => it.stop()));
  for (const child of spawned.splice(0)) child.kill("SIGKILL");
});

function copyOfPrepared(): string {
  const copy = join(space.path, `copy-${++count}`);
  Bun.spawnSync(["cp", "-a", prepared, copy]);
  return copy;
}

async function started(dataDirectory: string, log = keptLog()): Promise<Embedded> {
  const embedded = await start(dataDirectory, log);
  running.push(embedded);
  return embedded;
}

const pidOf = (dataDirectory: string): number =>
  Number(readFileSync(join(dataDirectory, "postgres/data/postmaster.pid"), "utf8").split("\n")[0]);

/** Resolves once another server than `former` runs on the directory. */
const untilRestarted = (dataDirectory: string, former: number) =>
  until(() => {
    const pid = readPidFile(join(dataDirectory, "postgres/data"))?.pid;
    return pid !== undefined && pid !== former;
  });

const account = () => chooseUser("");

/** A process of the user that Postgres runs as. */
function sleeper(script = "exec sleep 60"): Bun.Subprocess<"ignore", "pipe", "ignore"> {
  const child = Bun.spawn(["/bin/sh", "-c", script], {
    cwd: "/",
    ...asUser(account()),
    stdio: ["ignore", "pipe", "ignore"],
  });
  spawned.push(child);
  return child;
}

/** Leaves a `postmaster.pid` behind as a killed server would. */
function leavePidFile(dataDirectory: string, pid: number): void {
  const data = join(dataDirectory, "postgres/data");
  const file = join(data, "postmaster.pid");
  const run = join(dataDirectory, "postgres/run");
  writeFileSync(file, `${pid}\n${data}\n1795262117\n5432\n${run}\n\n  1234567  32768\nready   \n`, {
    mode: 0o600,
  });
  const { uid, gid } = statSync(data);
  if (ROOT) chownSync(file, uid, gid);
}

describe("first and later starts", () => {
  test("what was committed is there at the next start", async () => {
    const embedded = await started(copyOfPrepared());
    expect(await ask(embedded.url, "select answer from kept")).toBe(42);
    expect(embedded).toMatchObject({ adopted: false, version: expect.stringMatching(/^18\./) });
  });

  test("nothing of the database can be read by others", async () => {
    const directory = copyOfPrepared();
    await started(directory);
    const modeOf = (path: string) => statSync(join(directory, "postgres", path)).mode & 0o077;
    expect(["data", "run", "password", "server.log"].map(modeOf)).toEqual([0, 0, 0, 0]);
    // Whoever can open the lock can take it, and keep a launcher from starting.
    expect(["launcher.lock", "launcher.pid"].map(modeOf)).toEqual([0, 0]);
  });

  test("the gateway's role owns its database and has no power over the server", async () => {
    const { url } = await started(copyOfPrepared());
    const powers = "rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls";
    expect(await ask(url, `select ${powers} from pg_roles where rolname = current_user`)).toBe(false);
    expect(
      await ask(
        url,
        "select pg_get_userbyid(datdba) = current_user from pg_database where datname = current_database()",
      ),
    ).toBe(true);
  });

  test("a wrong password is refused", async () => {
    const { url } = await started(copyOfPrepared());
    const refused = await ask(url.replace(/:[0-9a-f]{48}@/, ":wrong@"), "select 1").catch(
      (e: { code: string }) => e.code,
    );
    expect(refused).toBe("28P01");
  });

  test("an initialisation that was killed half-way leaves no trace and is done again", async () => {
    const directory = join(space.path, `half-${++count}`);
    const half = join(directory, "postgres/data.tmp-deadbeef");
    mkdirSync(half, { recursive: true });
    writeFileSync(join(half, "PG_VERSION"), "18\n");
    const embedded = await started(directory);
    expect(await ask(embedded.url, "select 1")).toBe(1);
    expect(readdirSync(join(directory, "postgres")).filter((name) => name.includes("tmp"))).toEqual([]);
  });

  test("a directory that is no cluster is left alone and named", async () => {
    const directory = join(space.path, `foreign-${++count}`);
    mkdirSync(join(directory, "postgres/data"), { recursive: true });
    writeFileSync(join(directory, "postgres/data/thesis.txt"), "chapter one");
    await expect(start(directory)).rejects.toThrow("is not a Postgres data directory");
    expect(existsSync(join(directory, "postgres/data/thesis.txt"))).toBe(true);
  });

  test("a cluster of another major version is not opened", async () => {
    const directory = copyOfPrepared();
    writeFileSync(join(directory, "postgres/data/PG_VERSION"), "14\n");
    await expect(start(directory)).rejects.toThrow(
      /version 14, which the data directory needs.*DATABASE_URL/s,
    );
  });

  test("a cluster whose password was lost says which file to restore", async () => {
    const directory = copyOfPrepared();
    rmSync(join(directory, "postgres/password"));
    await expect(start(directory)).rejects.toThrow(/postgres\/password is missing/);
  });

  test("a second launcher on the same data directory is refused, and the first goes on", async () => {
    const directory = copyOfPrepared();
    const first = await started(directory);
    await expect(start(directory)).rejects.toThrow(
      /Another launcher \(process \d+, since \d{4}-\d\d-\d\d \d\d:\d\d UTC\) is already running/,
    );
    expect(await ask(first.url, "select answer from kept")).toBe(42);
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

  /** Another process starts the database and is killed with -9; returns the server's number. */
  async function leftByKilledLauncher(directory: string): Promise<number> {
    const script = `
      const { start } = await import(${JSON.stringify(join(import.meta.dir, "../support/embedded.ts"))});
      await start(${JSON.stringify(directory)});
      process.stdout.write("up");
      setInterval(() => undefined, 1000);`;
    const launcher = Bun.spawn([process.execPath, "-e", script], {
      // As anywhere but in tests, what it started lives on.
      env: { ...process.env, BUN_FEATURE_FLAG_NO_ORPHANS: undefined },
      stdio: ["ignore", "pipe", "inherit"],
    });
    spawned.push(launcher);
    for await (const _ of launcher.stdout) break;
    const pid = pidOf(directory);
    launcher.kill("SIGKILL");
    await launcher.exited;
    return pid;
  }

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
    const binaries = findBinaries({ account: place.account, copyRoot: space.path, major: null });
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
    const twin = join(space.path, `twin-${++count}`);
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

describe("a postmaster.pid left behind", () => {
  const goesOn = async (directory: string) => {
    const embedded = await started(directory);
    expect(await ask(embedded.url, "select answer from kept")).toBe(42);
  };

  test("by a dead process is no hindrance", async () => {
    const child = sleeper("exit 0");
    await child.exited;
    const directory = copyOfPrepared();
    leavePidFile(directory, child.pid);
    await goesOn(directory);
  });

  test("whose pid is now another program of the same user is removed", async () => {
    const directory = copyOfPrepared();
    leavePidFile(directory, sleeper().pid);
    await goesOn(directory);
  });

  test("whose pid is now a process of another user is removed", async () => {
    const directory = copyOfPrepared();
    leavePidFile(directory, 1);
    await goesOn(directory);
  });

  test.if(LINUX)(
    "whose pid is now the server of another cluster is removed, and that server goes on",
    async () => {
      const other = copyOfPrepared();
      const otherServer = await started(other);
      const directory = copyOfPrepared();
      leavePidFile(directory, pidOf(other));
      await goesOn(directory);
      expect(await ask(otherServer.url, "select answer from kept")).toBe(42);
    },
  );

  test.if(LINUX)("whose process is a zombie that nobody reaps is removed", async () => {
    // It ends after the shell became `sleep`, which reaps nothing.
    const parent = sleeper("sleep 1 & echo $!; exec sleep 60");
    const { value } = await parent.stdout.getReader().read();
    const zombie = Number(new TextDecoder().decode(value));
    await until(() => readFileSync(`/proc/${zombie}/stat`, "utf8").includes(") Z "));
    const directory = copyOfPrepared();
    leavePidFile(directory, zombie);
    await goesOn(directory);
  });

  test("that holds no number is removed", async () => {
    const directory = copyOfPrepared();
    leavePidFile(directory, 1);
    writeFileSync(join(directory, "postgres/data/postmaster.pid"), "");
    await goesOn(directory);
  });
});

describe("addresses", () => {
  test("where the path of a socket would be too long, a short directory serves, and goes with the server", async () => {
    const deep = join(space.path, "d".repeat(60), "e".repeat(60));
    mkdirSync(deep, { recursive: true });
    Bun.spawnSync(["cp", "-a", prepared, join(deep, "data")]);
    const embedded = await start(join(deep, "data"));
    const directory = new URL(embedded.url).searchParams.get("host") ?? "";
    expect(directory.length).toBeLessThan(90);
    expect(statSync(directory).mode & 0o077).toBe(0);
    expect(await ask(embedded.url, "select answer from kept")).toBe(42);
    await embedded.stop();
    expect(existsSync(directory)).toBe(false);
  });

  test("where there are no sockets, a port of loopback serves, to be found again there", async () => {
    const place = chooseLocation(copyOfPrepared());
    const binaries = findBinaries({ account: place.account, copyRoot: space.path, major: null });
    const progress = () => undefined;
    const spec = { place, binaries, password: passwordOf(place), clock: systemClock, progress };
    const address = { kind: "tcp", port: freePort() } as const;
    const server = await launchServer(spec, address);
    expect(await ask(urlOf(address, spec.password), "select answer from kept")).toBe(42);
    expect(await adoptServer(spec)).toMatchObject({ pid: server.pid, address });
    await stopServer(server);
    expect(await adoptServer(spec)).toBeNull();
  });
});

describe.if(ROOT)("as root", () => {
  test("below a home that Postgres's user cannot enter, the database goes to the system's place, and is found again", async () => {
    const home = join(space.path, `home-${++count}`);
    mkdirSync(home, { mode: 0o700 });
    const systemRoot = join(space.path, `system-${count}`);
    const options = {
      dataDirectory: join(home, "data"),
      systemRoot,
      log: keptLog(),
      clock: systemClock,
      progress: () => undefined,
    };
    const first = await startEmbedded(options);
    expect(first.data).toStartWith(`${systemRoot}/`);
    expect(first.user).not.toBe("root");
    await ask(first.url, "create table kept as select 7 as answer");
    await first.stop();
    const second = await startEmbedded(options);
    running.push(second);
    expect(await ask(second.url, "select answer from kept")).toBe(7);
  });

  test("a cluster that was copied without its owners and modes is given back to Postgres's user", async () => {
    const directory = copyOfPrepared();
    const data = join(directory, "postgres/data");
    Bun.spawnSync(["chown", "-R", "0:0", data]);
    Bun.spawnSync(["chmod", "-R", "a+rX", data]);
    const embedded = await started(directory);
    expect(await ask(embedded.url, "select answer from kept")).toBe(42);
    expect([statSync(data).uid, statSync(data).mode & 0o777]).toEqual([account()?.uid ?? -1, 0o700]);
  });

  test("a cluster of a user that does not exist here is given to Postgres's user", async () => {
    const directory = copyOfPrepared();
    Bun.spawnSync(["chown", "-R", "54321:54321", join(directory, "postgres/data")]);
    expect(await ask((await started(directory)).url, "select answer from kept")).toBe(42);
  });

  test("an ordinary user is told whose the files are, and what to do", async () => {
    const directory = copyOfPrepared();
    Bun.spawnSync(["chmod", "-R", "a+rwX", directory]);
    Bun.spawnSync(["chown", "-R", "54321:54321", join(directory, "postgres/data")]);
    // Any user may read and run these copies; the checkout and Bun may lie in a directory of root's alone.
    const owners = join(directory, "owners.ts");
    const bun = join(directory, "bun");
    copyFileSync(join(import.meta.dir, "../../drizzle/embedded/owners.ts"), owners);
    copyFileSync(process.execPath, bun);
    const script = `const { repairOwners } = await import(${JSON.stringify(owners)});
      try { repairOwners({ data: ${JSON.stringify(join(directory, "postgres/data"))}, account: null }, () => {}); }
      catch (error) { process.stdout.write(error.message); }`;
    const run = Bun.spawnSync([bun, "-e", script], { cwd: "/", ...asUser(account()) });
    expect(run.stdout.toString()).toContain("belong to user 54321");
    expect(run.stdout.toString()).toContain("copied without their owners");
  });

  test("a cluster that an ordinary user made runs as that user", async () => {
    const directory = copyOfPrepared();
    Bun.spawnSync(["chown", "-R", "nobody", join(directory, "postgres")]);
    const embedded = await started(directory);
    expect(embedded.user).toBe("nobody");
    expect(await ask(embedded.url, "select answer from kept")).toBe(42);
  });

  test("a full disk stops the server, and it is back with every acknowledged row once there is room", async () => {
    const disk = join(space.path, `disk-${++count}`);
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
  });
});
