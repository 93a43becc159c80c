import { beforeEach, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "#test/support/embedded.ts";

const ROOT = join(import.meta.dir, "../..");
const PATCH = "drizzle/patches/postgres@3.4.9.patch";

let checkout: string;
beforeEach(() => {
  checkout = scratch().path;
  mkdirSync(join(checkout, "gateway/cli"), { recursive: true });
  mkdirSync(join(checkout, "drizzle/patches"), { recursive: true });
  for (const file of ["package.json", "bun.lock", "gateway/cli/install.ts", PATCH]) {
    copyFileSync(join(ROOT, file), join(checkout, file));
  }
});

/** Runs the installer with a registry that does not exist, so that only what needs no network succeeds. */
function install(...words: string[]) {
  const run = Bun.spawnSync(
    [process.execPath, "--no-env-file", join(checkout, "gateway/cli/install.ts"), ...words],
    {
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: checkout,
        NPM_CONFIG_REGISTRY: "http://127.0.0.1:9/",
        BUN_INSTALL_CACHE_DIR: join(checkout, "cache"),
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  return { status: run.exitCode, said: `${run.stdout}${run.stderr}` };
}

const lockHash = () =>
  new Bun.CryptoHasher("sha256")
    .update(readFileSync(join(checkout, "bun.lock")))
    .update(readFileSync(join(checkout, PATCH)))
    .digest("hex");
const mark = (text: string) => {
  mkdirSync(join(checkout, "node_modules"), { recursive: true });
  writeFileSync(join(checkout, "node_modules/.tallygate"), text);
};

test("packages that are there in their versions are left alone, whoever installed them", () => {
  symlinkSync(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  expect(install()).toEqual({ status: 0, said: "" });
});

test("a checkout whose lock file was installed needs no install, and production packages do not cover tests", () => {
  mark(`${lockHash()} production\n`);
  expect(install()).toEqual({ status: 0, said: "" });
  expect(install("--all").status).toBe(1);
  mark(`${lockHash()} all\n`);
  expect(install()).toEqual({ status: 0, said: "" });
  expect(install("--all")).toEqual({ status: 0, said: "" });
});

test("a lock file that has changed since is installed; a failure says what it needs", () => {
  mark("of-another-lock-file all\n");
  const { status, said } = install();
  expect(status).toBe(1);
  expect(said).toStartWith("Installing the packages that a start needs …\n");
  expect(said).toContain("write access to it and the registry");
});

type Locked = Record<"dependencies" | "optionalDependencies", Record<string, string> | undefined>;

test("what a start installs has no package that only tests name, no compiler, and no script that patches", () => {
  const { packages } = Bun.JSONC.parse(readFileSync(join(ROOT, "bun.lock"), "utf8")) as {
    packages: Record<string, [version: string, registry: string, it?: Locked]>;
  };
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const installed = new Set<string>();
  const waiting = Object.keys(dependencies);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (installed.has(name)) continue;
    installed.add(name);
    const [, , it] = packages[name] ?? [];
    waiting.push(...Object.keys({ ...it?.dependencies, ...it?.optionalDependencies }));
  }
  expect(installed.size).toBeGreaterThan(100);
  const needless = [...Object.keys(devDependencies), "patch-package", "typescript"];
  expect(needless.filter((name) => installed.has(name))).toEqual([]);
  expect(Object.keys(dependencies).filter((name) => /^@types\/|^(zod|valibot|arktype)$/.test(name))).toEqual(
    [],
  );
});
