import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "#test/support/embedded.ts";
import { figure } from "#test/support/figure.ts";
import { freePort } from "#test/support/ports.ts";
import { HAS_PROC } from "#test/support/processes.ts";
import { argumentsOf, build, environment, makeReadOnly, wordsOf } from "./dockerfile.ts";
import { treeAsContainer } from "./tree-as-container.ts";
import { copyBun, giveToUnprivileged, unprivileged } from "./unprivileged.ts";

const ROOT = join(import.meta.dir, "../..");

// `setpriv` and the modes of a read-only tree are those of Linux.
describe.if(HAS_PROC)("the image's tree, built by an ordinary user in a bare directory", () => {
  const { path: place } = scratch();
  const tree = join(place, "tree");
  const data = join(place, "data");
  let bun = "";
  const ports = { PORT: String(freePort()), GITHUB_APP_PORT: String(freePort()) };
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

  test("starts from its CMD with nothing writable but its volume, passes the smoke test, and stops in order", async () => {
    const [health = ""] = argumentsOf("HEALTHCHECK");
    expect(await run(health).exited).toBe(1);
    const [command = ""] = argumentsOf("CMD");
    const machine = place.concat("/machine");
    const log = treeAsContainer(machine, {
      tree,
      data,
      command: unprivileged(wordsOf(command, bun)),
      probe: unprivileged(wordsOf(health, bun)),
    });
    const image = Bun.spawn([join(ROOT, "gateway/deploy/image"), "tallygate"], {
      env: { ...env, PATH: `${machine}:${process.env["PATH"]}` },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = (await new Response(image.stdout).text()) + (await new Response(image.stderr).text());
    expect(await image.exited, said).toBe(0);
    expect(said).toContain("a call was answered and recorded");
    expect(readFileSync(join(machine, "health"), "utf8")).toBe("0\n");
    expect(log().filter((words) => /^(push|login)/.test(words))).toEqual([]);
  });
});
