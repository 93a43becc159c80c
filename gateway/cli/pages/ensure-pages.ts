import { rmSync } from "node:fs";
import { join } from "node:path";
import { errorFields, type Log } from "#shared/log.ts";
import { arePagesPackaged, pagesDirectories } from "../own-program.ts";
import { buildPages } from "./build-pages.ts";

const ROOT = join(import.meta.dir, "../../..");

/**
 * Builds the console if its sources have changed: beside the packages, or in the data directory where the checkout cannot
 * be written. A failure stops nothing: the gateway works without its console, whose addresses then say so.
 */
export async function ensurePages(dataDirectory: string, log: Log): Promise<void> {
  const [own, checkout] = pagesDirectories(dataDirectory);
  try {
    if (!arePagesPackaged()) await buildPages(ROOT, checkout);
    // The gateway looks there first, and an older one would hide what was just built.
    rmSync(own, { recursive: true, force: true });
  } catch (error) {
    if (!isUnwritable(error)) return failed(error);
    await buildPages(ROOT, own).catch(failed);
  }

  function failed(error: unknown): void {
    log.error(errorFields(error), "the console could not be built");
  }
}

const isUnwritable = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(EACCES|EPERM|EROFS)$/.test(String(error.code));
