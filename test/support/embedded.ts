import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "#drizzle/database.ts";
import { type Embedded, startEmbedded } from "#drizzle/embedded/supervisor.ts";
import { systemClock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";

export type Said = { level: string; message: string; [field: string]: unknown };

/** A log that keeps its lines. */
export function keptLog(): Log & { lines: Said[] } {
  const lines: Said[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, ...fields });
  const log: Log & { lines: Said[] } = {
    lines,
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: () => log,
  };
  return log;
}

/** A new directory that every user may pass through. */
export function scratch(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "tg-"));
  chmodSync(path, 0o711);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Starts an embedded Postgres on `dataDirectory`, as the launcher does. */
export const start = (dataDirectory: string, log: Log = keptLog()): Promise<Embedded> =>
  startEmbedded({
    dataDirectory,
    systemRoot: join(dataDirectory, "..", "system"),
    log,
    clock: systemClock,
    progress: () => undefined,
  });

/** One row's first value. */
export async function ask(url: string, query: string): Promise<unknown> {
  const client = connect(url, { name: "test", max: 1, statementTimeoutMs: 5_000 });
  try {
    return Object.values((await client.unsafe(query))[0] ?? {})[0];
  } finally {
    await client.end({ timeout: 1 });
  }
}

/** The same, once the server answers again. */
export async function askUntilAnswered(url: string, query: string, patienceMs = 10_000): Promise<unknown> {
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      return await ask(url, query);
    } catch (error) {
      if (Date.now() > until) throw error;
      await Bun.sleep(50);
    }
  }
}
