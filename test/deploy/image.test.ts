import { beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "#test/support/embedded.ts";
import { figure } from "#test/support/figure.ts";
import { freePort } from "#test/support/ports.ts";
import { HAS_PROC } from "#test/support/processes.ts";
import { argumentsOf, build, environment, makeReadOnly, wordsOf } from "./dockerfile.ts";
import { treeAsContainer } from "./tree-as-container.ts";
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

  test("a smoke test fails at the first thing that does not hold, and says which", async () => {
    const wrong = Bun.serve({ port: 0, fetch: () => new Response("no gateway") });
    const smoke = Bun.spawn([join(ROOT, "gateway/deploy/smoke"), wrong.url.origin, "key", "admin"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect(await new Response(smoke.stderr).text()).toContain(
      'smoke: a call: no "Hello from a smoke test" in: no gateway',
    );
    expect(await smoke.exited).toBe(1);
    await wrong.stop(true);
  });
});

test("a dry run of a release publishes nothing, and a tag publishes package, image and files", async () => {
  const { path: place } = scratch();
  const out = join(place, "dist");
  mkdirSync(out);
  await Bun.write(join(out, "tallygate-1.2.3.tgz"), "a package");
  const sums = new Bun.CryptoHasher("sha256").update("a package").digest("hex");
  await Bun.write(join(out, "SHA256SUMS"), `${sums}  tallygate-1.2.3.tgz\n`);
  for (const name of ["docker", "npm", "gh"]) {
    await Bun.write(join(place, name), `#!/bin/sh\necho "${name} $*" >> "${place}/log"\n`);
    chmodSync(join(place, name), 0o755);
  }
  const publish = async (...more: string[]) => {
    const words = [join(ROOT, "gateway/deploy/publish"), "v1.2.3", out, "ghcr.io/a/b", ...more];
    const env = { ...process.env, PATH: `${place}:${process.env["PATH"]}` };
    await Bun.write(join(place, "log"), "");
    const code = await Bun.spawn(words, { env, stdio: ["ignore", "ignore", "ignore"] }).exited;
    return { code, log: await Bun.file(join(place, "log")).text() };
  };
  const dry = await publish("--dry-run");
  expect(dry.code).toBe(0);
  expect(dry.log).toMatch(/^docker buildx build .*--output type=cacheonly/);
  expect(dry.log).toContain("npm publish --provenance --access public --dry-run");
  expect(dry.log).not.toMatch(/--push|^gh /m);
  const whole = await publish();
  expect(whole.log).toMatch(/^docker buildx build .*-t ghcr.io\/a\/b:1.2.3 .*--push/);
  expect(whole.log).toMatch(/^npm publish (?!.*--dry-run)/m);
  expect(whole.log).toMatch(/^gh release create v1.2.3/m);
  await Bun.write(join(out, "tallygate-1.2.3.tgz"), "another");
  expect(await publish()).toEqual({ code: 1, log: "" });
});
