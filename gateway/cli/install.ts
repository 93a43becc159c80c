/**
 * `bun gateway/cli/install.ts [--all]`: installs what a start needs, or with `--all` what tests need, too. It runs before
 * anything is installed, so it loads no package until then. What is there already is left alone, so a user who may not write the
 * directory can start, and a second start needs no network.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const MODULES = join(ROOT, "node_modules");
/** Says which lock file was installed, and how much of it. */
const MARKER = join(MODULES, ".tallygate");

const isAll = process.argv.includes("--all");
// Peers are type packages and what we depend on ourselves.
const OMITTED = isAll ? [] : ["--production", "--omit=peer"];

type Packages = Readonly<Record<string, string>>;
type Manifest = { version: string; dependencies: Packages; devDependencies: Packages };

const read = (path: string): string | null => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
};

/** Of everything that decides what an install writes: the lock file, and our patches, which it names but does not hash. */
function hashOfLock(): string {
  const hash = new Bun.CryptoHasher("sha256").update(read(join(ROOT, "bun.lock")) ?? "");
  for (const patch of new Bun.Glob("*.patch").scanSync(join(ROOT, "drizzle/patches"))) {
    hash.update(read(join(ROOT, "drizzle/patches", patch)) ?? "");
  }
  return hash.digest("hex");
}

const lock = hashOfLock();
const markerOf = (extent: "all" | "production"): string => `${lock} ${extent}\n`;

/** Whether every package that we name is there in its version. For what was installed by hand, without a marker. */
function isThere(): boolean {
  // package.json is ours, and has both members.
  const { dependencies, devDependencies }: Manifest = JSON.parse(read(join(ROOT, "package.json")) ?? "");
  const wanted = Object.entries({ ...dependencies, ...(isAll ? devDependencies : {}) });
  return wanted.every(([name, version]) => {
    const text = read(join(MODULES, name, "package.json"));
    const present: Manifest | null = text === null ? null : JSON.parse(text);
    return present?.version === version;
  });
}

function isInstalled(): boolean {
  const marker = read(MARKER);
  if (marker === null) return isThere();
  return marker === markerOf("all") || (!isAll && marker === markerOf("production"));
}

/** Null if all went well, else what the installer printed. */
function install(): string | null {
  const run = Bun.spawnSync([process.execPath, "install", "--frozen-lockfile", ...OMITTED], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return run.exitCode === 0 ? null : `${run.stderr.toString()}${run.stdout.toString()}`.trim();
}

if (!isInstalled()) {
  process.stderr.write(`Installing ${isAll ? "all packages" : "the packages that a start needs"} …\n`);
  const failure = install();
  if (failure !== null) {
    process.stderr.write(
      `${failure}\n\nThe packages of bun.lock could not be installed in ${MODULES}. This needs write access to it and the registry, or a run of the same command as its owner.\n`,
    );
    process.exit(1);
  }
  const { prepareBinaries } = await import("#drizzle/embedded/binaries.ts");
  prepareBinaries();
  writeFileSync(MARKER, markerOf(isAll ? "all" : "production"));
}
