import { cpSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RequestRow } from "#drizzle/schema/records.ts";
import { createOwnSegment } from "#gateway/recorder/own-segment.ts";
import { newId } from "#shared/ids.ts";
import { openRow, ownDirectory, settledRow } from "./recorder-kit.ts";

/** The spool directory of a gateway that was killed, and the calls in it. */
export type KilledSpool = {
  directory: string;
  /** Path of its segment without extension. */
  stem: string;
  settled: RequestRow[];
  /** Calls that were under way. */
  open: RequestRow[];
};

const OPEN = 5;

/**
 * A spool with so many answered calls and five under way. `copied`: the write-ahead log has been copied into the file,
 * as happens every two seconds; otherwise everything is in the log.
 */
export async function killedSpool(calls: number, copied: boolean): Promise<KilledSpool> {
  const living = ownDirectory();
  const directory = ownDirectory();
  const segment = createOwnSegment({ directory: living, sync: "normal", bytesMax: 1024 ** 3 });
  const started = Array.from({ length: calls + OPEN }, (_, n) =>
    openRow({ tags: n % 50 === 0 ? long() : ["x"] }),
  );
  const settled = started.slice(OPEN).map((row) => settledRow(row));
  for (const row of started) segment.write([{ kind: "intent", id: row.id, text: JSON.stringify(row) }]);
  for (const row of settled)
    segment.write([{ kind: "settlement", id: row.id, text: JSON.stringify(row), at: Date.now() }]);
  if (copied) await segment.leave();
  const stem = join(directory, `segment-${newId()}`);
  const source = segment.path.replace(/\.db$/, "");
  for (const suffix of [".db", ".db-wal", ".mark"])
    if (existsSync(source + suffix)) cpSync(source + suffix, stem + suffix);
  if (!copied) await segment.leave();
  return { directory, stem, settled, open: started.slice(0, OPEN) };
}

/** So long that the row does not fit on one page. */
const long = () => Array.from({ length: 40 }, (_, n) => `tag-${n}-${"y".repeat(80)}`);

/** Inverts `bytes` bytes of the file from `at` on. */
export function flip(path: string, at: number, bytes: number): void {
  const content = readFileSync(path);
  for (let n = at; n < Math.min(at + bytes, content.length); n++) content[n] = ~(content[n] ?? 0) & 0xff;
  writeFileSync(path, content);
}

/** Cuts the file to a part of its length. */
export function cutTo(path: string, share: number): void {
  truncateSync(path, Math.floor(readFileSync(path).length * share));
}
