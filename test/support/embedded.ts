import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "#drizzle/database.ts";
import { type Embedded, startEmbedded } from "#drizzle/embedded/supervisor.ts";
import { systemClock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import { atEnd } from "./at-end.ts";
import { until } from "./until.ts";

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

/** A new directory that every user may pass through; it goes with the test or the file that made it. */
export function scratch(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "tg-"));
  chmodSync(path, 0o711);
  return { path, remove: atEnd(() => rmSync(path, { recursive: true, force: true, maxRetries: 10 })) };
}

/** Starts an embedded Postgres on `dataDirectory`, as the launcher does; it ends with the test or the file. */
export async function start(dataDirectory: string, log: Log = keptLog()): Promise<Embedded> {
  const embedded = await startEmbedded({
    dataDirectory,
    systemRoot: join(dataDirectory, "..", "system"),
    log,
    clock: systemClock,
    progress: () => undefined,
  });
  return { ...embedded, stop: atEnd(embedded.stop) };
}

/** One row's first value. */
export async function ask(url: string, query: string): Promise<unknown> {
  const client = connect(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  try {
    return Object.values((await client.unsafe(query))[0] ?? {})[0];
  } finally {
    await client.end({ timeout: 1 });
  }
}

/** The same, once the server answers again. */
export async function askUntilAnswered(url: string, query: string): Promise<unknown> {
  const answer = await until(() =>
    ask(url, query).then(
      (value) => ({ value }),
      () => null,
    ),
  );
  return answer.value;
}
