import type { Page } from "#shared/admin/fields.ts";
import type { Reader } from "../stores/change.ts";
import type { Slice } from "../stores/slice.ts";
import { type AdminDeps, readDatabase } from "./deps.ts";
import { pageFrom, readListQuery } from "./list.ts";
import { idCursor } from "./parameters.ts";

/** The page of a list by id that a query without filters asks for. */
export async function pageById<Row extends { id: string }, View>(
  deps: AdminDeps,
  request: Request,
  { list, view }: { list: (reader: Reader, slice: Slice) => Promise<Row[]>; view: (row: Row) => View },
): Promise<Page<View>> {
  const { limit, after } = readListQuery(request, []);
  const slice = { after: after && idCursor(after), limit: limit + 1 };
  const rows = await readDatabase(deps, (db) => list(db, slice));
  return pageFrom(rows, limit, { view, cursor: (row) => row.id });
}
