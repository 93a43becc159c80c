import type { TSchema } from "@sinclair/typebox";
import { type Page, readEnd, readInstant } from "#shared/admin/fields.ts";
import { isId } from "#shared/ids.ts";
import { faultsOf } from "#shared/schema.ts";
import { isWithinLength } from "#shared/text-length.ts";
import { GatewayError, refuse } from "../errors.ts";
import type { Reader } from "../stores/change.ts";
import type { Slice } from "../stores/slice.ts";
import { type AdminDeps, readDatabase } from "./deps.ts";

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 500;
const VALUE_LENGTH_MAX = 512;

export type ListQuery<Name extends string> = {
  /** Items on the page. */
  limit: number;
  /** The previous page's `next`. */
  after: string | null;
  given: Partial<Record<Name, string>>;
};

/**
 * The query of a list: `limit` (1 to 500, 50 if absent), `after`, and the given filters.
 * @throws GatewayError invalid_request naming a parameter that is unknown, repeated, empty or out of bounds.
 */
export function readListQuery<Name extends string>(
  request: Pick<Request, "url">,
  names: readonly Name[],
): ListQuery<Name> {
  const { limit, after = null, ...given } = readParameters(request, ["limit", "after", ...names]);
  // It refused all names but these.
  return { limit: readLimit(limit), after, given: given as Partial<Record<Name, string>> };
}

/**
 * The query of an address, each parameter once.
 * @throws GatewayError invalid_request naming a parameter that is unknown, repeated, empty or too long.
 */
export function readParameters<Name extends string>(
  request: Pick<Request, "url">,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const { search } = new URL(request.url);
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(search)) {
    if (!names.some((known) => known === name)) {
      const known = names.join(", ");
      refuse(`${name}: Unknown parameter. Known parameters are ${known}.`);
    }
    if (given.has(name)) refuse(`${name}: Given twice.`);
    if (value === "" || !isWithinLength(value, VALUE_LENGTH_MAX))
      refuse(`${name}: Expected 1 to ${VALUE_LENGTH_MAX} characters.`);
    given.set(name, value);
  }
  // The loop refused all names but these.
  return Object.fromEntries(given) as Partial<Record<Name, string>>;
}

/** Refuses an impossible value of a filter: an empty list would mislead. @throws GatewayError invalid_request */
export function requireKnown(
  given: Readonly<Record<string, string | undefined>>,
  known: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [name, values] of Object.entries(known)) {
    const value = given[name];
    if (value === undefined || values.includes(value)) continue;
    refuse(`${name}: Expected one of ${values.join(", ")}.`);
  }
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT_DEFAULT;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  refuse(`limit: Expected a whole number from 1 to ${LIMIT_MAX}.`);
}

/** A half-open RFC 3339 window; a date as `to` includes that day. Null: absent. @throws GatewayError invalid_request */
export function readWindow(from: string | undefined, to: string | undefined) {
  const instant = (name: string, atMs: number | null): string => {
    if (atMs !== null) return new Date(atMs).toISOString();
    refuse(`${name}: Expected an RFC 3339 date-time or a date.`);
  };
  return {
    from: from === undefined ? null : instant("from", readInstant(from)),
    to: to === undefined ? null : instant("to", readEnd(to)),
  };
}

/** The parameter `key`, which is a key's id or its name. */
export const keyFilter = (key: string | undefined): { id: string } | { name: string } | null =>
  key === undefined ? null : isId(key) ? { id: key } : { name: key };

/** A page of a list. One row more than `limit` was requested; it shows whether another page follows. */
export function pageFrom<Row, View>(
  rows: readonly Row[],
  limit: number,
  { view, cursor }: { view: (row: Row) => View; cursor: (row: Row) => string },
): Page<View> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  return { data: shown.map(view), has_more: hasMore, next: hasMore && last ? cursor(last) : null };
}

/** A page of a list at hand, all of it without `limit`. @throws GatewayError invalid_request for an unknown `after`. */
export function pageOfAll<View>(
  all: readonly View[],
  { limit, after }: { limit?: string; after?: string },
  cursor: (one: View) => string,
): Page<View> {
  const start = after === undefined ? 0 : all.findIndex((one) => cursor(one) === after) + 1;
  if (after !== undefined && start === 0) refuseCursor();
  const count = limit === undefined ? all.length : readLimit(limit);
  return pageFrom(all.slice(start), count, { view: (one) => one, cursor });
}

export const PAGE_OF_ALL_QUERY = {
  limit: "Items per page, 1 to 500. Default: all.",
  after: "The `next` of the previous page.",
} as const;

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

/** The name in a PUT's address. @throws GatewayError invalid_request if it is invalid or differs from the body's. */
export function requireSameName(inAddress: string, inBody: string | undefined, schema: TSchema): void {
  if (inBody !== undefined && inBody !== inAddress)
    refuse("/name: Expected the name in the address, or no name.");
  const [fault] = faultsOf(schema, inAddress);
  if (fault) refuse(`/name: ${fault.message}.`);
}

/** @throws GatewayError not_found for an invalid id. */
export function idParameter(text: string): string {
  if (!isId(text)) throw new GatewayError("not_found");
  return text;
}

/** @throws GatewayError invalid_request for a value that no page gave as `next`. */
export function idCursor(after: string): string {
  return isId(after) ? after : refuseCursor();
}

const refuseCursor = (): never => refuse("after: Expected the `next` of the previous page.");
