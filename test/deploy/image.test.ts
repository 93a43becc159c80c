import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startChild } from "#test/support/child.ts";
import { scratch } from "#test/support/embedded.ts";
import { figure } from "#test/support/figure.ts";
import { freePort } from "#test/support/ports.ts";
import { HAS_PROC } from "#test/support/processes.ts";
import { until } from "#test/support/until.ts";
import { argumentsOf, build, environment, makeReadOnly, wordsOf } from "./dockerfile.ts";
import { copyBun, giveToUnprivileged, unprivileged } from "./unprivileged.ts";

const ROOT = join(import.meta.dir, "../..");

describe("the Dockerfile", () => {
  test("has no root, one volume, and commands in the form that passes signals on", () => {
    expect(argumentsOf("USER")).toEqual(["1000:1000"]);
    expect(argumentsOf("VOLUME")).toEqual([environment()["DATA_DIR"] ?? ""]);
    for (const command of [...argumentsOf("CMD"), ...argumentsOf("HEALTHCHECK")]) {
      expect(existsSync(join(ROOT, wordsOf(command).at(-1) ?? ""))).toBe(true);
    }
  });

  test("takes the Bun of package.json, and copies what its ignore file lets through", () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(argumentsOf("ARG")[0]).toBe(`BUN_IMAGE=oven/bun:${engines.bun}-slim`);
    const ignored = readFileSync(join(ROOT, "gateway/deploy/Dockerfile.dockerignore"), "utf8");
    const copied = argumentsOf("COPY")
      .filter((text) => !text.startsWith("/"))
      .flatMap((text) => text.split(" ").slice(0, -1));
    const allowed = ignored.split("\n").flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));
    expect(copied.toSorted()).toEqual(allowed.toSorted());
  });
});

// `setpriv` and the modes of a read-only tree are those of Linux.
describe.if(HAS_PROC)("the image's tree, built by an ordinary user in a bare directory", () => {
  const { path: place } = scratch();
  const tree = join(place, "tree");
  const data = join(place, "data");
  let bun = "";
  const ports = { PORT: String(freePort()), GITHUB_APP_PORT: String(freePort()) };
  const url = `http://127.0.0.1:${ports.PORT}`;
  const env = { PATH: "/usr/bin:/bin", ...environment(), HOST: "127.0.0.1", DATA_DIR: data, ...ports };

  beforeAll(async () => {
    for (const path of [tree, data]) mkdirSync(path);
    bun = copyBun(place);
    giveToUnprivileged(place);
    await build(tree, bun);
    makeReadOnly(tree);
  });

  const run = (text: string) =>
    Bun.spawn(unprivileged(wordsOf(text, bun)), { cwd: tree, env, stdio: ["ignore", "ignore", "ignore"] });

  test("has no development dependencies, and the console", async () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const development = Object.keys(manifest.devDependencies).filter((name) =>
      existsSync(join(tree, "node_modules", name)),
    );
    expect(development).toEqual([]);
    expect(existsSync(join(tree, "node_modules/.cache/tallygate-pages/index.html"))).toBe(true);
    const size = Bun.spawnSync(["du", "-sm", tree]).stdout.toString().split("\t")[0];
    figure(`the image's tree without Bun takes ${size} MB`);
  });

  test("starts from its CMD with nothing writable but its volume, answers a call, records it, and stops in order", async () => {
    const [health = ""] = argumentsOf("HEALTHCHECK");
    expect(await run(health).exited).toBe(1);
    const [command = ""] = argumentsOf("CMD");
    const child = await startChild(
      ["/bin/sh", "-c", `cd "$0" && exec "$@"`, tree, ...unprivileged(wordsOf(command, bun))],
      env,
    );
    try {
      await until(() => {
        if (child.hasExited()) throw new Error(child.log());
        return child.log().includes("Tallygate is ready.");
      });
      expect(await run(health).exited).toBe(0);
      const key = readFileSync(join(data, "first-key"), "utf8").trim();
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({
          model: "echo",
          messages: [{ role: "user", content: "Hello from a container" }],
        }),
      });
      expect(await answer.text()).toContain("Hello from a container");
      const admin = readFileSync(join(data, "admin-key"), "utf8").trim();
      const report = await fetch(`${url}/v1/reports?range=mtd&id=spend-by-model`, {
        headers: { authorization: `Bearer ${admin}` },
      });
      expect(await report.text()).toContain('"echo"');
      const console = await fetch(url, { headers: { accept: "text/html" } });
      expect(await console.text()).toContain("/assets/");
      const docs = await fetch(`${url}/docs`);
      expect([...(await docs.text()).matchAll(/<dt>/g)].length).toBeGreaterThan(30);
    } finally {
      await child.end("SIGTERM");
    }
    expect(await child.exited).toBe(0);
  });
});
