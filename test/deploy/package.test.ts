import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { startChild } from "#test/support/child.ts";
import { scratch } from "#test/support/embedded.ts";
import { freePort } from "#test/support/ports.ts";
import { HAS_PROC } from "#test/support/processes.ts";
import { until } from "#test/support/until.ts";
import { packageRegistry } from "./package-registry.ts";
import { giveToUnprivileged, unprivileged } from "./unprivileged.ts";

const ROOT = join(import.meta.dir, "../..");

/** A registry that has the package. */
function publish(place: string): Promise<string> {
  const run = (words: string[], cwd: string) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(words, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    if (exitCode !== 0) throw new Error(`${words.join(" ")}: ${stderr}`);
    return stdout.toString().trim();
  };
  const content = join(place, "package");
  run([process.execPath, "gateway/deploy/npm/build-package.ts", content], ROOT);
  const tarball = run([process.execPath, "pm", "pack", "--quiet", "--destination", place], content);
  return packageRegistry(tarball, content);
}

// `setpriv` is of Linux.
describe.if(HAS_PROC)("the npm package", () => {
  test("lets an ordinary user with Node alone start, make a metered call and stop, in a bare directory", async () => {
    const { path: place } = scratch();
    const [home, bare, programs] = ["home", "bare", "programs"].map((name) => join(place, name));
    if (!home || !bare || !programs) throw new Error("unreachable");
    const registry = await publish(place);
    for (const path of [home, bare, programs]) mkdirSync(path);
    // Node and npm, but no Bun.
    for (const name of ["node", "npm", "npx"]) symlinkSync(Bun.which(name) ?? "", join(programs, name));
    for (const path of [home, bare]) giveToUnprivileged(path);
    const ports = { PORT: String(freePort()), GITHUB_APP_PORT: String(freePort()) };
    const env = { HOME: home, PATH: `${programs}:/bin`, npm_config_registry: registry, ...ports };
    const npx = ["npx", "--yes", "tallygate"];
    const command = (...words: string[]) => [
      "/bin/sh",
      "-c",
      `cd "$0" && exec "$@"`,
      bare,
      ...unprivileged([...npx, ...words]),
    ];
    const run = async (...words: string[]) => {
      const started = Bun.spawn(command(...words), { env, stdio: ["ignore", "pipe", "pipe"] });
      const said = await Promise.all([
        new Response(started.stdout).text(),
        new Response(started.stderr).text(),
      ]);
      expect(await started.exited, said.join("")).toBe(0);
      return said[0];
    };
    const { version } = await Bun.file(join(ROOT, "package.json")).json();
    // Installs it, which takes as long as the registry does.
    const child = await startChild(command("start"), env);
    try {
      await until(() => {
        if (child.hasExited()) throw new Error(child.log());
        return child.log().includes("Tallygate is ready.");
      });
      const url = `http://127.0.0.1:${ports.PORT}`;
      const key = readFileSync(join(bare, ".tallygate/first-key"), "utf8").trim();
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({
          model: "echo",
          messages: [{ role: "user", content: "Hello from a package" }],
        }),
      });
      expect(await answer.text()).toContain("Hello from a package");
      const page = await fetch(url, { headers: { accept: "text/html" } });
      expect(await page.text()).toContain("/assets/");
      const docs = await fetch(`${url}/docs/deploy`);
      expect(await docs.text()).toContain("systemd");
      expect(await run("report", "spend-by-model")).toContain("echo");
      expect(await run("--version")).toBe(`${version}\n`);
    } finally {
      await child.end("SIGTERM");
    }
    // npx ends at once, and what it started notices that.
    await until(() => child.log().includes("gateway stopped"));
  }, 600_000);
});
