import type { Draft } from "./entry.ts";
import type { SettledRow, SpoolFile } from "./spool-file.ts";
import { settledIn } from "./turn-lines.ts";

/** Writes a turn, before which `before` rows had been settled; once more, when it was not known to be written. */
export function turnWriter({ db, keep, transaction, park }: SpoolFile) {
  const insert = keep(db.prepare("INSERT OR REPLACE INTO turns (n, at, before, body) VALUES (?, ?, ?, ?)"));
  return (n: number, before: number, { at, body, parked, isTurn }: Draft): void => {
    const store = () => {
      if (isTurn) insert.run(n, at, before, body);
    };
    if (parked.length === 0) store();
    else
      transaction(() => {
        store();
        parked.forEach(park);
      });
  };
}

/** Reads at most `rowsMax` rows with a number over `after`, from the turn `first` on. */
export function turnReader({ db, keep }: SpoolFile) {
  const from = keep(
    db.prepare<StoredTurn, [number]>("SELECT n, before, body FROM turns WHERE n >= ? ORDER BY n LIMIT 1"),
  );
  return (first: number, after: number, rowsMax: number): SettledRow[] => {
    const rows: SettledRow[] = [];
    for (let turn = from.get(first); turn; turn = rows.length < rowsMax ? from.get(turn.n + 1) : null)
      rows.push(...rowsOf(turn).filter(({ seq }) => seq > after));
    return rows.slice(0, rowsMax);
  };
}

/** `before`: how many rows had been settled before the turn. */
type StoredTurn = { n: number; before: number; body: string };

const rowsOf = ({ before, body }: StoredTurn): SettledRow[] =>
  settledIn(body).map((text, index) => ({ seq: before + index + 1, text }));
