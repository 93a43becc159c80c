import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { takeLock } from "#shared/file-lock.ts";
import { ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";

afterAll(removeOwnDirectories);

describe("a file lock", () => {
  test("is held against other holders of the same process until it is released", () => {
    const path = join(ownDirectory(), "a.lock");
    const lock = takeLock(path);
    expect(takeLock(path)).toBeNull();
    lock?.release();
    const next = takeLock(path);
    expect(next).not.toBeNull();
    next?.release();
  });

  test("is held against other processes, also after this process has looked at the file once more", async () => {
    const path = join(ownDirectory(), "a.lock");
    const lock = takeLock(path);
    takeLock(path)?.release();
    const module = join(import.meta.dir, "../../shared/file-lock.ts");
    const script = `const { takeLock } = await import(${JSON.stringify(module)}); process.exit(takeLock(${JSON.stringify(path)}) ? 1 : 0)`;
    expect(Bun.spawnSync([process.execPath, "-e", script]).exitCode).toBe(0);
    lock?.release();
    expect(Bun.spawnSync([process.execPath, "-e", script]).exitCode).toBe(1);
  });
});
