import { afterEach, describe, expect, test } from "bun:test";
import { chownSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SUPERUSER } from "#drizzle/embedded/initialise.ts";
import { migrate } from "#drizzle/migrate.ts";
import { requireMasterKey } from "#gateway/stores/master-key-check.ts";
import { systemClock } from "#shared/clock.ts";
import { ask, keptLog, scratch } from "#test/support/embedded.ts";
import { freePort } from "#test/support/ports.ts";
import { testDatabase } from "#test/support/postgres.ts";
import { isAlive } from "#test/support/processes.ts";
import { until } from "#test/support/until.ts";

const LAUNCHER = join(import.meta.dir, "../support/stand-in/launcher.ts");
const START = join(import.meta.dir, "../../gateway/cli/start.ts");

/** Signals this close are one request, so the next one waits longer. */
const A_REQUEST_MS = 1_100;

const space = scratch();
const dataDir = join(space.path, "data");
const ports = { PORT: String(freePort()), GITHUB_APP_PORT: String(freePort()) };
const running: Launcher[] = [];

afterEach(async () => {
  for (const launcher of running.splice(0)) {
    launcher.process.kill("SIGTERM");
    await launcher.process.exited;
  }
});
type Launcher = {
  process: Bun.Subprocess<"ignore", "pipe", "pipe">;
  said(): string;
  /** Resolves when it has said `text`. */
  saying(text: string): Promise<true>;
};

function launcher(script: string, env: Record<string, string>, words: string[] = []): Launcher {
  const child = Bun.spawn([process.execPath, "--no-env-file", script, ...words], {
    cwd: space.path,
    // A group of its own, as in a terminal.
    detached: true,
    env: { PATH: process.env["PATH"] ?? "", DATA_DIR: dataDir, STAND_IN_DIR: space.path, ...ports, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const listen = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) said += new TextDecoder().decode(chunk);
  };
  void listen(child.stdout);
  void listen(child.stderr);
  const it = {
    process: child,
    said: () => said,
    saying: (text: string) =>
      until(() => {
        if (child.exitCode !== null) throw new Error(`ended without saying "${text}":\n${said}`);
        return said.includes(text);
      }),
  };
  running.push(it);
  return it;
}

const events = (name: string): string[] => {
  const file = join(space.path, `${name}.events`);
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};
const startsOf = (name: string) => events(name).filter((event) => event.startsWith("start"));
const lastPid = (name: string) => Number(startsOf(name).at(-1)?.split(" ")[1]);
const envOf = (name: string): Record<string, string> =>
  JSON.parse(readFileSync(join(space.path, `${name}.env.json`), "utf8"));
const pidFile = join(dataDir, "postgres/data/postmaster.pid");

describe("the launcher", () => {
  test("the first start makes keys and database, says where all is, and ends everything on SIGTERM", async () => {
    const it = launcher(LAUNCHER, { OPENAI_API_KEY: "sk-canary", WEBHOOK_SECRET: "a-secret-of-some-length" });
    await it.saying("Tallygate is ready.");
    expect(it.said()).toContain(`http://127.0.0.1:${ports.PORT}`);
    expect(it.said()).toContain(`http://127.0.0.1:${ports.GITHUB_APP_PORT}`);
    expect(it.said()).toContain(join(dataDir, "admin-key"));
    expect(readFileSync(join(dataDir, "admin-key"), "utf8")).toMatch(/^tga_[0-9A-Za-z]{43}\n$/);
    for (const secret of ["admin-key", "master-key"]) {
      expect(statSync(join(dataDir, secret)).mode & 0o777).toBe(0o600);
    }

    const gateway = envOf("gateway");
    expect(gateway).toMatchObject({
      NODE_ENV: "production",
      BUN_CONFIG_MAX_HTTP_REQUESTS: "20000",
      MIMALLOC_PURGE_DELAY: "2000",
      ADMIN_KEY: readFileSync(join(dataDir, "admin-key"), "utf8").trim(),
      MASTER_KEY: readFileSync(join(dataDir, "master-key"), "utf8").trim(),
      OPENAI_API_KEY: "sk-canary",
    });
    expect(gateway["WEBHOOK_SECRET"]).toBeUndefined();
    const githubApp = envOf("github-app");
    expect(githubApp["WEBHOOK_SECRET"]).toBe("a-secret-of-some-length");
    expect([githubApp["ADMIN_KEY"], githubApp["MASTER_KEY"], githubApp["OPENAI_API_KEY"]]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const months = "select count(*)::int from pg_inherits where inhparent = 'requests'::regclass";
    expect(await ask(gateway["DATABASE_URL"] ?? "", months)).toBe(5);

    it.process.kill("SIGTERM");
    expect(await it.process.exited).toBe(0);
    expect([events("gateway").at(-1), events("github-app").at(-1)]).toEqual(["stop SIGTERM", "stop SIGTERM"]);
    expect(existsSync(pidFile)).toBe(false);
  });

  test("the second start keeps the keys", async () => {
    const key = readFileSync(join(dataDir, "admin-key"), "utf8");
    const it = launcher(LAUNCHER, {});
    await it.saying("Tallygate is ready.");
    expect(readFileSync(join(dataDir, "admin-key"), "utf8")).toBe(key);
  });

  test("a second launcher on the same data directory is refused", async () => {
    const first = launcher(LAUNCHER, {});
    await first.saying("Tallygate is ready.");
    const second = launcher(LAUNCHER, { PORT: String(freePort()), GITHUB_APP_PORT: String(freePort()) });
    expect(await second.process.exited).toBe(1);
    expect(second.said()).toContain(`Another launcher (process ${first.process.pid}, since `);
    expect((await fetch(`http://127.0.0.1:${ports.PORT}/readyz`)).status).toBe(200);
  });

  test("a process that dies is started again, and the other one goes on", async () => {
    const it = launcher(LAUNCHER, {});
    await it.saying("Tallygate is ready.");
    const before = { gateway: startsOf("gateway").length, githubApp: startsOf("github-app").length };
    process.kill(lastPid("gateway"), "SIGKILL");
    await until(() => startsOf("gateway").length === before.gateway + 1);
    expect(startsOf("github-app").length).toBe(before.githubApp);
  });

  test("five crashes of a process that had been ready cost a quarter of a second each", async () => {
    const it = launcher(LAUNCHER, {});
    await it.saying("Tallygate is ready.");
    for (let crash = 1; crash <= 5; crash++) {
      const pid = lastPid("gateway");
      process.kill(pid, "SIGKILL");
      await until(() => lastPid("gateway") !== pid);
      await until(() => it.said().split("process is ready again").length - 1 === crash);
    }
    const delays = [...it.said().matchAll(/"delayMs":(\d+)/g)].map(([, ms]) => Number(ms));
    expect(delays).toEqual([250, 250, 250, 250, 250]);
  });

  test("SIGHUP replaces both processes: the old one is told when the new one is ready", async () => {
    const it = launcher(LAUNCHER, {});
    await it.saying("Tallygate is ready.");
    const before = { gateway: lastPid("gateway"), githubApp: lastPid("github-app") };
    it.process.kill("SIGHUP");
    await it.saying("Restarted.");
    await until(() => !isAlive(before.gateway) && !isAlive(before.githubApp));
    expect(events("gateway").slice(-3)).toEqual([
      `start ${lastPid("gateway")}`,
      `ready ${lastPid("gateway")}`,
      "stop replaced",
    ]);
    expect(lastPid("gateway")).not.toBe(before.gateway);
    expect(lastPid("github-app")).not.toBe(before.githubApp);
    const answer = await fetch(`http://127.0.0.1:${ports.PORT}/`, { keepalive: false });
    expect(Number(await answer.text())).toBe(lastPid("gateway"));
    // Whatever replaced it is kept alive like the first.
    process.kill(lastPid("gateway"), "SIGKILL");
    const killed = lastPid("gateway");
    await until(() => lastPid("gateway") !== killed);
  });

  test("a successor that does not start changes nothing, and the log says so", async () => {
    const it = launcher(LAUNCHER, { STAND_IN_gateway: "no-successor" });
    await it.saying("Tallygate is ready.");
    const ready = events("gateway").findLast((event) => event.startsWith("ready"));
    it.process.kill("SIGHUP");
    await it.saying("Not everything was restarted");
    expect(it.said()).toContain("the new process did not become ready");
    const answer = await fetch(`http://127.0.0.1:${ports.PORT}/`, { keepalive: false });
    expect(`ready ${await answer.text()}`).toBe(ready ?? "");
  });

  test("a process whose settings are wrong is not started again: everything ends with status 78", async () => {
    const before = startsOf("github-app").length;
    const it = launcher(LAUNCHER, { "STAND_IN_github-app": "misconfigured" });
    expect(await it.process.exited).toBe(78);
    expect(it.said()).toContain("WEBHOOK_SECRET has an invalid value");
    expect(startsOf("github-app").length).toBe(before + 1);
    expect(events("gateway").findLast((event) => !event.startsWith("ready"))).toStartWith("stop");
    expect(existsSync(pidFile)).toBe(false);
  });

  test("a second SIGINT does not wait for a process that hangs", async () => {
    const it = launcher(LAUNCHER, { STAND_IN_gateway: "hang" });
    await it.saying("Tallygate is ready.");
    it.process.kill("SIGINT");
    await until(() => events("gateway").at(-1) === "stop SIGINT");
    await Bun.sleep(A_REQUEST_MS);
    expect(it.process.exitCode).toBeNull();
    it.process.kill("SIGINT");
    expect(await it.process.exited).toBe(0);
    expect(isAlive(lastPid("gateway"))).toBe(false);
    expect(existsSync(pidFile)).toBe(false);
  });

  // A terminal signals the whole group, and the runner forwards its signal: the launcher gets two.
  test("one Ctrl-C is one request, also when a runner forwards it; a later one does not wait", async () => {
    const script = `"${process.execPath}" --no-env-file "${LAUNCHER}"`;
    writeFileSync(join(space.path, "package.json"), JSON.stringify({ scripts: { start: script } }));
    const it = launcher("run", { STAND_IN_gateway: "hang" }, ["start"]);
    await it.saying("Tallygate is ready.");
    const pressCtrlC = () => process.kill(-it.process.pid, "SIGINT");
    const gateway = lastPid("gateway");
    pressCtrlC();
    await it.saying("Press Ctrl-C again to stop now.");
    await until(() => events("gateway").at(-1) === "stop SIGINT" || !isAlive(gateway));
    await Bun.sleep(A_REQUEST_MS);
    expect([isAlive(gateway), existsSync(pidFile)]).toEqual([true, true]);
    pressCtrlC();
    await until(() => !isAlive(gateway) && !existsSync(pidFile));
  });

  test("when the launcher is killed, the pair and the database end by themselves, and the next start has it all", async () => {
    const it = launcher(LAUNCHER, {});
    await it.saying("Tallygate is ready.");
    it.process.kill("SIGKILL");
    await until(() => !isAlive(lastPid("gateway")) && !isAlive(lastPid("github-app")));
    expect(events("gateway").at(-1)).toBe("stop launcher gone");
    await until(() => !existsSync(pidFile));
    const next = launcher(LAUNCHER, {});
    await next.saying("Tallygate is ready.");
  });

  test("a missing master key beside a database stops the start and says what to do", async () => {
    const file = join(dataDir, "master-key");
    const key = readFileSync(file, "utf8");
    rmSync(file);
    const it = launcher(LAUNCHER, {});
    expect(await it.process.exited).toBe(1);
    expect(it.said()).toContain(`${file} is missing, but the database in ${join(dataDir, "postgres/data")}`);
    expect(it.said()).toContain("restore it from a backup, or set MASTER_KEY");
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, key, { mode: 0o600 });
    await launcher(LAUNCHER, {}).saying("Tallygate is ready.");
  });

  test("a wrong password of the database is named, and SIGTERM and Ctrl-C end a start during a recovery", async () => {
    const inPostgres = (name: string) => join(dataDir, "postgres", name);
    const password = readFileSync(inPostgres("password"));
    writeFileSync(inPostgres("password"), "another\n");
    const refused = launcher(LAUNCHER, {});
    expect(await refused.process.exited).toBe(1);
    expect(refused.said()).toContain(`refuses the password in ${inPostgres("password")} (28P01)`);
    writeFileSync(inPostgres("password"), password);

    // It waits for a log that does not come.
    const settings = readFileSync(inPostgres("data/postgresql.auto.conf"));
    writeFileSync(inPostgres("data/postgresql.auto.conf"), `${settings}hot_standby = off\n`);
    writeFileSync(inPostgres("data/standby.signal"), "");
    const { uid, gid } = statSync(inPostgres("data"));
    chownSync(inPostgres("data/standby.signal"), uid, gid);
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const it = launcher(LAUNCHER, {});
      await until(() => existsSync(pidFile));
      it.process.kill(signal);
      expect(await it.process.exited).toBe(0);
      expect(existsSync(pidFile)).toBe(false);
    }
    rmSync(inPostgres("data/standby.signal"));
    writeFileSync(inPostgres("data/postgresql.auto.conf"), settings);
  });

  test("a runner that dies without a word takes the launcher with it, in order", async () => {
    const runner = Bun.spawn(["/bin/sh", "-c", `"$0" --no-env-file "$1"; exit`, process.execPath, LAUNCHER], {
      env: {
        PATH: process.env["PATH"] ?? "",
        DATA_DIR: dataDir,
        STAND_IN_DIR: space.path,
        ...ports,
        npm_lifecycle_event: "start",
      },
      stdio: ["ignore", "ignore", "ignore"],
    });
    const before = startsOf("gateway").length;
    await until(() => startsOf("gateway").length > before);
    runner.kill("SIGKILL");
    await until(() => !existsSync(pidFile));
    expect(events("gateway").at(-1)).toBe("stop SIGTERM");
  });

  test("with a database of one's own none is made, and that one is migrated", async () => {
    const database = await testDatabase();
    const elsewhere = join(space.path, "elsewhere");
    const it = launcher(LAUNCHER, {
      DATA_DIR: elsewhere,
      DATABASE_URL: database.url,
      MASTER_KEY: "00".repeat(32),
    });
    await it.saying("Tallygate is ready.");
    expect(envOf("gateway")["DATABASE_URL"]).toBe(database.url);
    expect(readdirSync(elsewhere)).toEqual(["admin-key"]);
    it.process.kill("SIGTERM");
    expect(await it.process.exited).toBe(0);
    await database.close();
  });

  test("a database of one's own that is not there is named, and nobody says that it is migrated", async () => {
    const port = freePort();
    const it = launcher(LAUNCHER, {
      DATA_DIR: join(space.path, "away"),
      DATABASE_URL: `postgres://somebody:canary@127.0.0.1:${port}/shop`,
      MASTER_KEY: "00".repeat(32),
    });
    await it.saying("Tallygate is ready.");
    expect(it.said()).toContain(
      `The database shop at 127.0.0.1:${port} cannot be reached: nothing listens there`,
    );
    expect(it.said()).not.toMatch(/Migrating|canary/);
    it.process.kill("SIGTERM");
    expect(await it.process.exited).toBe(0);
  });

  test("a database that does not let us in is named as the fault", async () => {
    const database = await testDatabase();
    const it = launcher(LAUNCHER, {
      DATA_DIR: join(space.path, "refused"),
      // The server asks no one else for a password, see support/postgres.ts.
      DATABASE_URL: database.url.replace(/\/\/.*@/, `//${SUPERUSER}:wrong@`),
      MASTER_KEY: "00".repeat(32),
    });
    expect(await it.process.exited).toBe(1);
    expect(it.said()).toContain("cannot be used: the server refuses the password.");
    await database.close();
  });
});

describe("bun run start", () => {
  test("wrong settings end it with status 78 and a list of all faults", async () => {
    const it = launcher(START, { PORT: "http", LOG_LEVEL: "loud", DATABASE_URL: "postgres://u:canary@h/d" });
    expect(await it.process.exited).toBe(78);
    expect(it.said()).toBe(
      [
        "3 invalid settings:",
        '  - PORT is "http"; expected a port from 1 to 65535',
        '  - LOG_LEVEL is "loud"; expected one of trace, debug, info, warn, error, fatal',
        "  - MASTER_KEY is missing, which a DATABASE_URL of your own requires; expected 32 bytes in hexadecimal or base64",
        "",
      ].join("\n"),
    );
  });

  test("a host that this machine does not have ends it, and is named as the fault", async () => {
    const it = launcher(LAUNCHER, { HOST: "192.0.2.1" });
    expect(await it.process.exited).toBe(1);
    expect(it.said()).toMatch(
      /PORT \d+ on 192\.0\.2\.1 cannot be used: this machine has no such address .*Set HOST/,
    );
  });

  test("another installation's master key ends everything with status 78 and the remedy, without restarts", async () => {
    const database = await testDatabase();
    await migrate(database.url);
    const key = (byte: number) => new Uint8Array(32).fill(byte);
    const check = { databaseUrl: database.url, masterKeyReplaces: null, clock: systemClock, log: keptLog() };
    await requireMasterKey({ ...check, masterKey: key(1) });
    const it = launcher(START, {
      DATA_DIR: join(space.path, "another"),
      DATABASE_URL: database.url,
      MASTER_KEY: "02".repeat(32),
    });
    expect(await it.process.exited).toBe(78);
    expect(it.said()).toContain("is not the key that this installation was sealed with");
    expect(it.said()).not.toContain("restarting it");
    await database.close();
  });

  test("--help tells the settings and starts nothing", async () => {
    const run = Bun.spawnSync([process.execPath, START, "--help"], {
      env: { PATH: process.env["PATH"] ?? "" },
    });
    expect(run.exitCode).toBe(0);
    expect(run.stdout.toString()).toContain("DATABASE_URL");
  });
});
