import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { reachable } from "#gateway/cli/client/settings.ts";
import { type BannerFacts, banner, quoted } from "#gateway/cli/start/banner.ts";
import { HELP } from "#gateway/cli/start/help.ts";
import { ensureSecrets } from "#gateway/cli/start/secrets.ts";
import { readLauncherConfig, SETTING_NAMES } from "#gateway/config.ts";
import { pause, restartDelayMs } from "#shared/backoff.ts";
import { portFault } from "#shared/listen.ts";
import { scratch } from "#test/support/embedded.ts";

const space = scratch();
const FACTS: BannerFacts = {
  gatewayUrl: "http://127.0.0.1:8787",
  publicUrl: null,
  setupUrl: null,
  signInUrl: null,
  githubAppUrl: "http://127.0.0.1:8788",
  database: "Postgres 18.4 in /srv/data",
  adminKeyFile: "/srv/admin-key",
  plainHost: null,
  firstKeyFile: "/srv/first-key",
};

describe("what is shown when the pair is ready", () => {
  test("the call shown works when pasted, wherever the data directory lies", async () => {
    const directory = join(space.path, "it's a $(strange) `place`");
    mkdirSync(directory);
    const firstKeyFile = join(directory, "first-key");
    writeFileSync(firstKeyFile, "tg_secret\n");
    const seen: unknown[] = [];
    const gateway = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const { pathname } = new URL(request.url);
        seen.push(request.method, pathname, request.headers.get("authorization"), await request.json());
        return new Response("ok");
      },
    });
    const text = banner({ ...FACTS, gatewayUrl: `http://127.0.0.1:${gateway.port}`, firstKeyFile });
    const command = text.split("\n").find((line) => line.startsWith("  curl ")) ?? "";
    const shell = Bun.spawn(["/bin/sh", "-c", command], { stdio: ["ignore", "pipe", "ignore"] });
    expect(await new Response(shell.stdout).text()).toBe("ok");
    await gateway.stop(true);
    expect(seen).toEqual([
      "POST",
      "/v1/chat/completions",
      "Bearer tg_secret",
      { model: "echo", messages: [{ role: "user", content: "Hello" }] },
    ]);
  });

  test("it names addresses and places, and holds no secret", () => {
    expect(banner(FACTS)).toContain("/srv/admin-key");
    expect(banner({ ...FACTS, adminKeyFile: null })).toContain("from ADMIN_KEY");
    expect(banner({ ...FACTS, publicUrl: "https://llm.example.com" })).toContain("https://llm.example.com");
    expect(banner({ ...FACTS, firstKeyFile: null })).toContain("YOUR_CLIENT_KEY");
    expect(banner(FACTS)).not.toContain("Sign in");
    expect(banner({ ...FACTS, signInUrl: "http://x/sign-in?token=t" })).toContain("http://x/sign-in?token=t");
    expect(banner(FACTS)).not.toContain("Warning");
    expect(banner({ ...FACTS, plainHost: "0.0.0.0" })).toContain("Warning: HOST is 0.0.0.0");
  });

  test("any path is one word of a shell", () => {
    const path = fc
      .string({ minLength: 1, maxLength: 20 })
      .filter((it) => !/[\0\n\r]/.test(it) && it.isWellFormed());
    fc.assert(
      fc.property(path, (it) => {
        const echoed = Bun.spawnSync(["/bin/sh", "-c", `printf %s "$(printf %s ${quoted(it)})"`]);
        expect(echoed.stdout.toString()).toBe(it);
      }),
      { numRuns: 50 },
    );
  });

  test("the help names every setting that the launcher reads", () => {
    expect(SETTING_NAMES.filter((name) => !new RegExp(`\\b${name}\\b`).test(HELP))).toEqual([]);
  });
});

describe("keys of an installation", () => {
  const configIn = (name: string, env = {}) => {
    const directory = join(space.path, name);
    mkdirSync(directory, { recursive: true });
    return readLauncherConfig({ DATA_DIR: directory, ...env });
  };

  test("both are made once, and kept", () => {
    const config = configIn("kept");
    const first = ensureSecrets(config);
    expect(first.adminKey).toMatch(/^tga_[0-9A-Za-z]{43}$/);
    expect(Buffer.from(first.masterKey, "base64").length).toBe(32);
    expect(ensureSecrets(config)).toEqual(first);
  });

  test("those of the environment go first, and none is written then", () => {
    const config = configIn("given", { ADMIN_KEY: "tga_0123456789abcdef", MASTER_KEY: "ab".repeat(32) });
    expect(ensureSecrets(config)).toEqual({
      adminKey: "tga_0123456789abcdef",
      adminKeyFile: null,
      masterKey: "ab".repeat(32),
    });
  });

  test("a file that others could read is closed to them", () => {
    const config = configIn("opened");
    ensureSecrets(config);
    const file = join(config.dataDirectory, "master-key");
    chmodSync(file, 0o644);
    ensureSecrets(config);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("a damaged master key is not replaced, because credentials are sealed with it", () => {
    const config = configIn("damaged");
    writeFileSync(join(config.dataDirectory, "master-key"), "half a k");
    expect(() => ensureSecrets(config)).toThrow("does not hold 32 bytes");
  });

  test("a master key that is missing beside a database is not made again, and the error says what to do", () => {
    const config = configIn("lost");
    const data = join(config.dataDirectory, "postgres/data");
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "PG_VERSION"), "18\n");
    expect(() => ensureSecrets(config)).toThrow("restore it from a backup, or set MASTER_KEY");
    expect(existsSync(join(config.dataDirectory, "master-key"))).toBe(false);
  });
});

test("wrong settings end a start with the status that no service manager starts again", async () => {
  const env = { PATH: process.env["PATH"] ?? "", DATA_DIR: join(space.path, "wrong"), PORT: "http" };
  const program = join(import.meta.dir, "../../gateway/cli/start.ts");
  const start = Bun.spawn([process.execPath, program], { env, stdio: ["ignore", "ignore", "pipe"] });
  expect(await new Response(start.stderr).text()).toContain("PORT");
  expect(await start.exited).toBe(78);
  const unit = await Bun.file(join(import.meta.dir, "../../gateway/deploy/tallygate.service")).text();
  expect(unit).toContain("RestartPreventExitStatus=78");
});

describe("ports", () => {
  test("a port in use is told from a free one", async () => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    expect(await portFault("127.0.0.1", server.port ?? 0)).toBe("EADDRINUSE");
    await server.stop(true);
    expect(await portFault("127.0.0.1", server.port ?? 0)).toBeNull();
  });

  test("an address that means all addresses is not one to connect to", () => {
    expect(["0.0.0.0", "::", "::1", "gateway.example"].map((host) => reachable(host, 80))).toEqual([
      "127.0.0.1:80",
      "[::1]:80",
      "[::1]:80",
      "gateway.example:80",
    ]);
  });
});

describe("waiting before a restart", () => {
  test("it doubles from 250 ms to 10 s, and is 250 ms again after a process that had been ready", () => {
    const delays: number[] = [];
    for (let count = 0; count < 8; count++) delays.push(restartDelayMs(delays.at(-1) ?? 0, false));
    expect(delays).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    expect(restartDelayMs(10_000, true)).toBe(250);
  });

  test("it ends at once when asked to", async () => {
    const asked = new AbortController();
    const waited = pause(60_000, asked.signal);
    asked.abort();
    await waited;
    await pause(60_000, asked.signal);
  });
});
