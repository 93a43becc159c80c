import { describe, expect, test } from "bun:test";
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { urlOf } from "#drizzle/embedded/address.ts";
import { findBinaries } from "#drizzle/embedded/binaries.ts";
import { chooseLocation, passwordOf } from "#drizzle/embedded/location.ts";
import { adoptServer, launchServer, stopServer } from "#drizzle/embedded/server.ts";
import { asUser, chooseUser } from "#drizzle/embedded/system-user.ts";
import { systemClock } from "#shared/clock.ts";
import { atEnd } from "#test/support/at-end.ts";
import { ask, keptLog, start } from "#test/support/embedded.ts";
import { freePort } from "#test/support/ports.ts";
import { until } from "#test/support/until.ts";
import { embeddedWorld, pidOf } from "./embedded-world.ts";

// What a start finds: remains of other servers, paths that are too long, files of other users.

const ROOT = process.getuid?.() === 0;
const LINUX = process.platform === "linux";

const { path, prepared, newPath, copyOfPrepared, started, startedWith } = embeddedWorld();

const account = () => chooseUser("");

/** A process of the user that Postgres runs as. */
function sleeper(script = "exec sleep 60"): Bun.Subprocess<"ignore", "pipe", "ignore"> {
  const child = Bun.spawn(["/bin/sh", "-c", script], {
    cwd: "/",
    ...asUser(account()),
    stdio: ["ignore", "pipe", "ignore"],
  });
  atEnd(() => child.kill("SIGKILL"));
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

describe("an initialisation", () => {
  test("that was killed half-way leaves no trace and is done again", async () => {
    const directory = newPath("half");
    const half = join(directory, "postgres/data.tmp-deadbeef");
    mkdirSync(half, { recursive: true });
    writeFileSync(join(half, "PG_VERSION"), "18\n");
    const embedded = await started(directory);
    expect(await ask(embedded.url, "select 1")).toBe(1);
    expect(readdirSync(join(directory, "postgres")).filter((name) => name.includes("tmp"))).toEqual([]);
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
    const deep = join(path, "d".repeat(60), "e".repeat(60));
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
    const binaries = findBinaries({ account: place.account, copyRoot: path, major: null });
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
    const home = newPath("home");
    mkdirSync(home, { mode: 0o700 });
    const systemRoot = newPath("system");
    const options = {
      dataDirectory: join(home, "data"),
      systemRoot,
      log: keptLog(),
      clock: systemClock,
      progress: () => undefined,
    };
    const first = await startedWith(options);
    expect(first.data).toStartWith(`${systemRoot}/`);
    expect(first.user).not.toBe("root");
    await ask(first.url, "create table kept as select 7 as answer");
    await first.stop();
    const second = await startedWith(options);
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
});
