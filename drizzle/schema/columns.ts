import type { BuildExtraConfigColumns } from "drizzle-orm";
import * as pg from "drizzle-orm/pg-core";
import { DEFAULT_ORG } from "#shared/ids.ts";

/** Text compared byte by byte, so that an external server's locale changes neither order nor speed. */
export const label = pg.customType<{ data: string; driverData: string }>({
  dataType: () => 'text COLLATE "C"',
});

export const labels = pg.customType<{ data: string[]; driverData: string[] }>({
  dataType: () => 'text[] COLLATE "C"',
});

/** A point in time: `timestamptz` in Postgres, RFC 3339 with milliseconds and `Z` here. */
export const instant = pg.customType<{ data: string; driverData: string }>({
  dataType: () => "timestamptz(3)",
  fromDriver: (value) => new Date(value).toISOString(),
});

/** Exact decimal number, as a string: money and prices never become floats. */
export const exact = pg.customType<{ data: string; driverData: string }>({ dataType: () => "numeric" });

/** A set of numbers: bit n, from 0, is on if n is in it. Sets end with their last number. */
export const bits = pg.customType<{ data: string; driverData: string }>({ dataType: () => "bit varying" });

export const bytes = pg.customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });

/** The organisation (tenant); first in every primary key. */
export const org = () => label("org_id").notNull().default(DEFAULT_ORG);

/** A table whose first column, also of its primary key, is `org_id`. `keyedBy`: the rest of the key, and indexes. */
export const orgTable = <Name extends string, Columns extends Record<string, pg.PgColumnBuilderBase>>(
  name: Name,
  columns: Columns,
) => ({
  keyedBy: (
    key: (keyof Columns & string)[],
    indexes?: (table: BuildExtraConfigColumns<Name, Org & Columns, "pg">) => pg.PgTableExtraConfigValue[],
  ) =>
    pg.pgTable<Name, Org & Columns>(name, { orgId: org(), ...columns }, (table) => [
      pg.primaryKey({ columns: [table.orgId, ...key.map((member) => table[member])] }),
      ...(indexes?.(table) ?? []),
    ]),
});

type Org = { orgId: ReturnType<typeof org> };

export const json = <T>(name: string) => pg.jsonb(name).$type<T>();

/** Columns of a table whose rows are work that one process at a time takes (drizzle/leases/lease.ts). */
export const leaseColumns = {
  /** Until then the row belongs to the process that took it. */
  leasedUntil: instant("leased_until"),
  /** Failures since the last success. */
  attempts: pg.smallint("attempts").notNull().default(0),
  /** Not taken before this. */
  nextAttemptAt: instant("next_attempt_at"),
  /** Class of the last failure, never its message. */
  failure: label("failure"),
};

/** When a row was made and changed last. */
export const changedColumns = {
  createdAt: instant("created_at").notNull(),
  updatedAt: instant("updated_at").notNull(),
};

/** Whom a call counts for: the key's owner, the caller's user, and the key's team at its time, then the teams above it. */
export const callerColumns = {
  owner: label("owner"),
  userLabel: label("user_label"),
  teams: labels("teams"),
  costCenter: label("cost_center"),
};
