const CHUNK = 200;

export type Joining<Account, State> = {
  keyOf(account: Account): string | number;
  keyOfRow(row: State): string | number;
  /** Locks and reads the rows of these accounts, in the order of their keys. */
  lock(accounts: readonly Account[]): Promise<State[]>;
  /** The row after one more account of it, in whichever order they come. */
  join(before: State | null, account: Account): State;
  /** Completes rows before they are written. */
  complete?(rows: readonly { before: State | null; after: State }[]): Promise<State[]>;
  /** Inserts rows; answers those that nobody else had inserted meanwhile. */
  insert(rows: readonly State[]): Promise<State[]>;
  /** Writes locked rows. */
  update(rows: readonly State[]): Promise<void>;
};

/**
 * Joins accounts with the rows that they are of, so that no two processes overwrite each other's: rows are locked,
 * joined and written; what is new is inserted, and if another process inserts it in between, joined once more. Rows
 * that an account changes nothing of are not written.
 */
export async function joinRows<Account, State extends object>(
  accounts: readonly Account[],
  by: Joining<Account, State>,
): Promise<void> {
  const groups = new Map<string | number, Account[]>();
  for (const account of accounts) {
    const group = groups.get(by.keyOf(account));
    if (group) group.push(account);
    else groups.set(by.keyOf(account), [account]);
  }
  // In one order, so that two transactions that insert the same rows do not wait for each other in a circle.
  const inOrder = [...groups.keys()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  for (const keys of chunksOf(inOrder)) {
    let left = keys;
    while (left.length > 0) left = await joinOnce(left, groups, by);
  }
}

/** Answers the keys that another process inserted meanwhile. */
async function joinOnce<Account, State extends object>(
  keys: readonly (string | number)[],
  groups: ReadonlyMap<string | number, Account[]>,
  by: Joining<Account, State>,
): Promise<(string | number)[]> {
  const firsts = keys.flatMap((key) => groups.get(key)?.[0] ?? []);
  const rows = new Map((await by.lock(firsts)).map((row) => [by.keyOfRow(row), row]));
  const joined: { before: State | null; after: State }[] = [];
  for (const key of keys) {
    const before = rows.get(key) ?? null;
    let after = before;
    for (const account of groups.get(key) ?? []) after = by.join(after, account);
    if (after !== null) joined.push({ before, after });
  }
  const completed = (await by.complete?.(joined)) ?? joined.map(({ after }) => after);
  const fresh = completed.filter((row) => !rows.has(by.keyOfRow(row)));
  const changed = completed.filter((row) => {
    const before = rows.get(by.keyOfRow(row));
    return before !== undefined && !Bun.deepEquals(comparable(before), comparable(row));
  });
  if (changed.length > 0) await by.update(changed);
  if (fresh.length === 0) return [];
  const written = new Set((await by.insert(fresh)).map((row) => by.keyOfRow(row)));
  return fresh.map((row) => by.keyOfRow(row)).filter((key) => !written.has(key));
}

/** A row read has its organisation, a joined one need not. */
const comparable = (row: object) => ({ ...row, orgId: null });

export function* chunksOf<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += CHUNK) yield items.slice(start, start + CHUNK);
}
