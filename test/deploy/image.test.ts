import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "#test/support/embedded.ts";
import { argumentsOf, environment, wordsOf } from "./dockerfile.ts";

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
