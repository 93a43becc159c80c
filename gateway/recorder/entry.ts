import type { ParkedRow } from "./spool-file.ts";
import { lineOf } from "./turn-lines.ts";

/** One change to the own file. `text` is a row of `requests` as JSON; `at` is in milliseconds since 1970. */
export type Entry =
  | { kind: "intent"; id: string; text: string }
  /** Ends the intent of the same id, if there is one. */
  | { kind: "settle"; id: string; text: string; at: number }
  /** Ends an intent whose row went to Postgres without passing this file. */
  | { kind: "forget"; id: string }
  /** The settled rows up to and with this number are in Postgres. */
  | { kind: "drop"; through: number }
  /** Postgres refused the row for its data. */
  | ({ kind: "park" } & ParkedRow)
  /** Changes nothing; tells whether the disk takes writes. */
  | { kind: "probe" };

/** What is to be written of a turn's entries; `isTurn` is false where that is no row of its own. */
export type Draft = {
  entries: readonly Entry[];
  body: string;
  settled: number;
  at: number;
  parked: ParkedRow[];
  isTurn: boolean;
};

export function draftOf(entries: readonly Entry[]): Draft {
  const draft: Draft = { entries, body: "", settled: 0, at: 0, parked: [], isTurn: false };
  for (const entry of entries) {
    if (entry.kind === "park") draft.parked.push(entry);
    if (entry.kind !== "intent" && entry.kind !== "settle" && entry.kind !== "probe") continue;
    draft.isTurn = true;
    if (entry.kind === "probe") continue;
    draft.body += lineOf(entry.kind, entry.id, entry.text);
    if (entry.kind === "intent") continue;
    draft.settled += 1;
    draft.at ||= entry.at;
  }
  return draft;
}
