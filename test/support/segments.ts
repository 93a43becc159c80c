import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openOrphanSegment } from "#gateway/recorder/orphan-segment.ts";
import { createOwnSegment, type Entry, type OwnSegment } from "#gateway/recorder/own-segment.ts";
import { ownDirectory } from "./recorder-kit.ts";

export const intent = (id: string, text = `start of ${id}`): Entry => ({ kind: "intent", id, text });
export const settlement = (id: string, text = `end of ${id}`): Entry => ({
  kind: "settlement",
  id,
  text,
  at: 5,
});

export const textsOf = (rows: readonly { text: string }[]) => rows.map(({ text }) => text);

/** A new segment in a directory of its own. */
export const newSegment = (bytesMax = 1024 ** 3): OwnSegment =>
  createOwnSegment({ directory: ownDirectory(), sync: "normal", bytesMax });

const FILES = ["", "-wal"] as const;
/** A segment's files as they are at one moment. */
export type Disk = Record<(typeof FILES)[number], Buffer>;

export const diskOf = (path: string): Disk => ({
  "": readFileSync(path),
  "-wal": readFileSync(`${path}-wal`),
});

/** Writes the files to a directory of their own; returns the path of the segment. */
export function restored(disk: Disk): string {
  const path = join(ownDirectory(), "segment.db");
  for (const suffix of FILES) writeFileSync(path + suffix, disk[suffix]);
  return path;
}

export const adopt = (path: string) => openOrphanSegment({ path, now: () => 9 });

/** What adopting these files finds, in order. */
export function foundOn(disk: Disk): string[] {
  const segment = adopt(restored(disk));
  const texts = textsOf(segment.source.take(100_000));
  segment.close();
  return texts;
}

/** What adopting the segment would find if its process died now. */
export const foundIfKilled = (segment: OwnSegment): string[] => foundOn(diskOf(segment.path));
