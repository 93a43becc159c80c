import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type SmallDisk = {
  directory: string;
  /** False where it could not be mounted, which takes root on Linux. */
  mounted: boolean;
  /** Fills the disk to its last byte with a file of somebody else's. */
  fill(): void;
  /** Removes that file. */
  free(): void;
  remove(): void;
};

/** A disk of its own, in memory, of so many MiB. */
export function smallDisk(mebibytes: number): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), "tg-disk-"));
  const mount = ["mount", "-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", directory];
  const mounted = process.platform === "linux" && Bun.spawnSync(mount, { stderr: "ignore" }).exitCode === 0;
  const hog = join(directory, "hog");

  function fillBy(bytes: number): void {
    try {
      for (;;) writeFileSync(hog, new Uint8Array(bytes), { flag: "a" });
    } catch {
      // No room for another piece.
    }
  }

  const free = () => rmSync(hog, { force: true });
  return {
    directory,
    mounted,
    fill: () => {
      fillBy(64 * 1024);
      fillBy(512);
    },
    free,
    remove: () => {
      free();
      // A test that failed may have left a file open.
      if (mounted) Bun.spawnSync(["umount", "--lazy", directory]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
