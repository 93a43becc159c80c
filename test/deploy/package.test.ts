import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Child, startChild } from "#test/support/child.ts";
import { scratch } from "#test/support/embedded.ts";
import { figure } from "#test/support/figure.ts";
import { freePort } from "#test/support/ports.ts";
import { HAS_PROC } from "#test/support/processes.ts";
import { until } from "#test/support/until.ts";
import { packageRegistry } from "./package-registry.ts";
import { giveToUnprivileged, unprivileged } from "./unprivileged.ts";

const ROOT = join(import.meta.dir, "../..");

/** The directory and the environment of an ordinary user's commands. */
type Place = { cwd: string; env: Record<string, string> };

function run(words: string[], cwd = ROOT): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(words, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  if (exitCode !== 0) throw new Error(`${words.join(" ")}: ${stderr}`);
  return stdout.toString().trim();
}

const asUser = (command: readonly string[], { cwd }: Place): string[] => [
  "/bin/sh",
  "-c",
  `cd "$0" && exec "$@"`,
  cwd,
  ...unprivileged(command),
];

/** What the user's command prints. */
const printed = async (command: readonly string[], place: Place): Promise<string> =>
  (await outputs(command, place)).stdout;

async function outputs(
  command: readonly string[],
  place: Place,
): Promise<{ stdout: string; stderr: string }> {
  const started = Bun.spawn(asUser(command, place), { env: place.env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = await Promise.all([
    new Response(started.stdout).text(),
    new Response(started.stderr).text(),
  ]);
  expect(await started.exited, stdout + stderr).toBe(0);
  return { stdout, stderr };
}

/** `npx` installs first, which takes as long as the registry does. */
const INSTALL_PATIENCE_MS = 480_000;

/** Starts it with settings in `.env`, and makes calls with the right key and a wrong one; `use` does more before it is stopped. */
async function whileStarted(
  command: readonly string[],
  place: Place,
  use: (url: string) => Promise<void>,
): Promise<Child> {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(join(place.cwd, ".env"), `PORT=${port}\nGITHUB_APP_PORT=${freePort()}\n`);
  const child = await startChild(asUser(command, place), place.env);
  try {
    await until(() => {
      if (child.hasExited()) throw new Error(child.log());
      return child.log().includes("Tallygate is ready.");
    }, INSTALL_PATIENCE_MS);
    const key = readFileSync(join(place.cwd, ".tallygate/first-key"), "utf8").trim();
    const answer = await call(url, key);
    expect(await answer.text()).toContain("Hello from a package");
    expect((await call(url, "tg_wrong")).status).toBe(401);
    const page = await fetch(url, { headers: { accept: "text/html" } });
    expect(await page.text()).toContain("/assets/");
    const docs = await fetch(`${url}/docs/deploy`);
    expect(await docs.text()).toContain("systemd");
    await use(url);
  } finally {
    await child.end("SIGTERM");
  }
  return child;
}

const call = (url: string, key: string): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "Hello from a package" }] }),
  });

// `setpriv` is of Linux.
describe.if(HAS_PROC)("what a release has for an ordinary user in a bare directory", async () => {
  const { path: place } = scratch();
  const content = join(place, "package");
  const { version } = await Bun.file(join(ROOT, "package.json")).json();

  beforeAll(() => {
    run([process.execPath, "gateway/deploy/npm/build-package.ts", content]);
  });

  function directoryOfUser(name: string): string {
    const path = join(place, name);
    mkdirSync(path);
    giveToUnprivileged(path);
    return path;
  }

  test("the npm package needs Node alone to start, make a metered call and stop", async () => {
    const tarball = run([process.execPath, "pm", "pack", "--quiet", "--destination", place], content);
    const programs = directoryOfUser("programs");
    // Node and npm, but no Bun.
    for (const name of ["node", "npm", "npx"]) symlinkSync(Bun.which(name) ?? "", join(programs, name));
    const env = {
      HOME: directoryOfUser("home"),
      PATH: `${programs}:/bin`,
      npm_config_registry: await packageRegistry(tarball, content),
    };
    const bare = { cwd: directoryOfUser("bare"), env };
    const npx = ["npx", "--yes", "tallygate"];
    const child = await whileStarted([...npx, "start"], bare, async (url) => {
      expect(await printed([...npx, "report", "spend-by-model", "--url", url], bare)).toContain("echo");
      expect(await printed([...npx, "--version"], bare)).toBe(`${version}\n`);
      const { stderr } = await outputs([...npx, "install", "claude", "--dry-run"], bare);
      expect(stderr).toContain("npm install -g tallygate");
    });
    // Bun runs the packages inside ours, whatever Node they would need.
    expect(child.log()).not.toContain("EBADENGINE");
    // npx ends at once, and what it started notices that.
    await until(() => child.log().includes("gateway stopped"));
  }, 600_000);

  test("the one program needs nothing: no home, no variable, no other program", async () => {
    const bare = { cwd: directoryOfUser("empty"), env: {} };
    const program = run([process.execPath, "gateway/deploy/binary/build-binary.ts", content, place]);
    figure(`the program for this platform takes ${Math.round(Bun.file(program).size / 1e6)} MB`);
    const child = await whileStarted([program, "start"], bare, async (url) => {
      const cache = join(bare.cwd, ".tallygate/cache");
      const home = directoryOfUser("user");
      const user = { cwd: bare.cwd, env: { HOME: home, XDG_CACHE_HOME: cache } };
      expect(await printed([program, "report", "spend-by-model", "--url", url], user)).toContain("echo");
      expect(await printed([program, "--version"], user)).toBe(`${version}\n`);
      await printed([program, "install", "claude", "opencode"], user);
      const claude = readFileSync(join(home, ".claude/settings.json"), "utf8");
      const hook = `${program} __run gateway/cli/stamp-hook.ts`;
      expect(JSON.parse(claude).hooks.PostToolUse[0].hooks[0].command).toBe(hook);
      await printed(hook.split(" "), user);
      const plugin = join(home, ".config/opencode/plugin/tallygate.js");
      expect(readFileSync(plugin, "utf8")).not.toContain(cache);
      // opencode is a compiled program, too: it loads the plugin into its own Bun.
      const load = `delete process.env.BUN_BE_BUN; console.log(Object.keys(await import("${plugin}")))`;
      const opencode = { ...user, env: { ...user.env, BUN_BE_BUN: "1" } };
      expect(await printed([program, "-e", load], opencode)).toContain("stamping");
      const doctor = Bun.spawnSync(asUser([program, "doctor", "--url", url], user), { env: user.env });
      expect(doctor.stdout.toString()).toContain("✓ Claude Code has the hook that stamps pull requests.");
      expect(doctor.stdout.toString()).toContain("✓ opencode has the hook that stamps pull requests.");
      expect(readdirSync(join(cache, "tallygate"))).toHaveLength(1);
    });
    expect(await child.exited).toBe(0);
    expect(child.log()).toContain("gateway stopped");
  }, 600_000);
});
