import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";

/** Writes a secret that only this process's user can read. Atomic: the file is complete and on disk, or absent. */
export function writeSecretFile(file: string, secret: string): string {
  const temporary = `${file}.tmp-${process.pid}`;
  const handle = openSync(temporary, "w", 0o600);
  try {
    writeSync(handle, `${secret}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, file);
  return secret;
}

/** The secret in `file`, trimmed, or null if there is no such file. Removes other users' access to it. */
export function readSecretFile(file: string): string | null {
  if (!existsSync(file)) return null;
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  return readFileSync(file, "utf8").trim();
}
