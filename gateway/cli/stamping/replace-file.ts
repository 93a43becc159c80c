import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Writes a file atomically or, with null, removes it; a symbolic link stays, and its target is replaced. */
export function replaceFile(path: string, text: string | null): void {
  const real = existsSync(path) ? realpathSync(path) : path;
  if (text === null) {
    rmSync(real);
    return;
  }
  const mode = existsSync(real) ? statSync(real).mode & 0o777 : 0o600;
  mkdirSync(dirname(real), { recursive: true });
  const temporary = `${real}.tmp-${process.pid}`;
  writeFileSync(temporary, text, { mode });
  renameSync(temporary, real);
}
