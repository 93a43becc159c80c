import { afterEach, beforeAll } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Embedded, startEmbedded } from "#drizzle/embedded/supervisor.ts";
import { ask, keptLog, scratch, start } from "#test/support/embedded.ts";

/** Clusters for the tests of a file, in a directory of its own. Servers end with the test that started them. */
export function embeddedWorld() {
  const space = scratch();
  /** A data directory with a stopped cluster in which `kept` holds 42. */
  const prepared = join(space.path, "prepared");
  const running: Embedded[] = [];
  let count = 0;

  beforeAll(async () => {
    const first = await start(prepared);
    await ask(first.url, "create table kept as select 42 as answer");
    await first.stop();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((it) => it.stop()));
  });

  const newPath = (name: string): string => join(space.path, `${name}-${++count}`);
  const keep = (embedded: Embedded): Embedded => {
    running.push(embedded);
    return embedded;
  };
  return {
    path: space.path,
    prepared,
    newPath,
    copyOfPrepared: (): string => {
      const copy = newPath("copy");
      Bun.spawnSync(["cp", "-a", prepared, copy]);
      return copy;
    },
    started: async (directory: string, log = keptLog()) => keep(await start(directory, log)),
    startedWith: async (options: Parameters<typeof startEmbedded>[0]) => keep(await startEmbedded(options)),
  };
}

/** The server that runs on a data directory, by its own word. */
export const pidOf = (dataDirectory: string): number =>
  Number(readFileSync(join(dataDirectory, "postgres/data/postmaster.pid"), "utf8").split("\n")[0]);
