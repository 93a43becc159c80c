import type { Sql, TransactionSql } from "postgres";
import { connect } from "../database.ts";
import { migrate } from "../migrate.ts";
import {
  type DataPart,
  dataParts,
  isSame,
  isUsed,
  load,
  partName,
  partRows,
  partSum,
  requireIdle,
  requireSame,
} from "./parts.ts";

export type Moving = {
  from: string;
  to: string;
  /** A part is moved, of this many. */
  onPart(state: { name: string; done: number; of: number }): void;
};

/**
 * Moves an installation from one database to another, part by part, each compared by its number of rows and their hashes.
 * Moved parts stay moved when it is interrupted, and the next call continues. Deletes nothing. Returns how many rows.
 * @throws Error that says what to do
 */
export async function moveDatabase({ from, to, onPart }: Moving): Promise<number> {
  for (const url of [from, to]) await migrate(url);
  const open = (url: string) => connect(url, { name: "move", max: 1, statementTimeoutMs: 0 });
  const [source, target] = [open(from), open(to)];
  try {
    await beginMove(target);
    return await source.begin("isolation level repeatable read read only", async (read) => {
      await requireIdle(read, "The database that is to be moved");
      const parts = await dataParts(read);
      let rows = 0;
      for (const [index, part] of parts.entries()) {
        rows += await movePart(read, target, part);
        onPart({ name: partName(part), done: index + 1, of: parts.length });
      }
      await target`drop table moved_parts`;
      await target`analyze`;
      return rows;
    });
  } finally {
    await Promise.all([source.end({ timeout: 5 }), target.end({ timeout: 5 })]);
  }
}

/** Notes in the database what is moved already, until all is. @throws Error if an installation uses it. */
const beginMove = (target: Sql): Promise<unknown> =>
  target.begin(async (tx) => {
    const [there] = await tx<{ name: string | null }[]>`select to_regclass('moved_parts')::text as name`;
    if (there?.name) return;
    if (await isUsed(tx)) {
      throw new Error(
        "The database to move to has an installation already. Name an empty one; to replace it, use restore.",
      );
    }
    await tx`create table moved_parts (name text primary key)`;
  });

/** Moves a part unless it is there; returns how many rows it has. */
async function movePart(read: TransactionSql, target: Sql, part: DataPart): Promise<number> {
  const expected = await partSum(read, part);
  await target.begin(async (tx) => {
    const [moved] = await tx`select 1 from moved_parts where name = ${partName(part)}`;
    // A gateway may have written to the first database since.
    if (moved && isSame(await partSum(tx, part), expected)) return;
    await load(tx, part, partRows(read, part));
    await requireSame(tx, part, expected);
    await tx`insert into moved_parts (name) values (${partName(part)}) on conflict do nothing`;
  });
  return expected.rows;
}
