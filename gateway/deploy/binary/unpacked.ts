import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, parse } from "node:path";
import { readPresent } from "#shared/env.ts";

/** Its name says what is in it: another content has another name. */
type Archive = { name: string; bytes(): Promise<Uint8Array<ArrayBuffer>> };

/** The user's directory for what programs can make again. */
function cacheHome(): string {
  const env = readPresent(["XDG_CACHE_HOME", "LOCALAPPDATA"]);
  const ofWindows = process.platform === "win32" ? env.get("LOCALAPPDATA") : undefined;
  const ofMac = process.platform === "darwin" ? "Library/Caches" : null;
  return env.get("XDG_CACHE_HOME") ?? ofWindows ?? join(homedir(), ofMac ?? ".cache");
}

function makeDirectory(parent: string): string {
  const directory = join(parent, "tallygate");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  accessSync(directory, constants.W_OK);
  return directory;
}

function writableDirectory(instead: string | null): string {
  try {
    return makeDirectory(cacheHome());
  } catch (error) {
    if (instead === null) throw error;
    return makeDirectory(instead);
  }
}

/**
 * The directory with the files of `archive`, a compressed tar file: unpacked once per user, whole or not at all. It is in the
 * user's cache directory, or in `instead` where that cannot be written.
 * @throws Error if neither can be written, or if another user could have put files there.
 */
export async function unpacked(archive: Archive, instead: string | null): Promise<string> {
  const directory = join(writableDirectory(instead), parse(archive.name).name);
  if (!existsSync(directory)) {
    const temporary = mkdtempSync(`${directory}-`);
    try {
      const tar = Bun.zstdDecompressSync(await archive.bytes());
      await new Bun.Archive(tar).extract(temporary);
      renameSync(temporary, directory);
    } catch (error) {
      rmSync(temporary, { recursive: true, force: true });
      // Another process may have been faster.
      if (!existsSync(directory)) throw error;
    }
  }
  const own = process.getuid?.();
  if (own !== undefined && statSync(directory).uid !== own) {
    throw new Error(`${directory} belongs to another user`);
  }
  return directory;
}
