import { getTableColumns } from "drizzle-orm";
import { requests } from "#drizzle/schema/records.ts";
import { words } from "#shared/words.ts";
import type { Parameters } from "./parameters.ts";

/** What a version has of a record. */
const VERSIONED: readonly string[] = words(
  "cost_usd token_cost_usd cost_basis list_cost_usd unpriced partial price",
);
const KEPT = Object.values(getTableColumns(requests)).flatMap(({ name }) =>
  VERSIONED.includes(name) ? [] : [`c.${name}`],
);

export type AsOf = { asOfMs?: number | undefined };

/** Calls with the costs that were known at an instant: the version that was replaced first after it, else the record. Undefined: the latest. */
export function callsAsOf({ asOfMs }: AsOf, params: Parameters): string | undefined {
  if (asOfMs === undefined) return undefined;
  const at = params.instant(asOfMs);
  const versioned = VERSIONED.map(
    (name) => `case when v.record_id is null then c.${name} else v.${name} end as ${name}`,
  );
  return `(
    select ${[...KEPT, ...versioned].join(", ")} from requests c left join lateral (
      select * from record_versions v where v.org_id = c.org_id and v.record_id = c.id and v.started_at = c.started_at
        and v.until_at > ${at} order by v.until_at limit 1) v on true
    where c.started_at < ${at} and v.absent is not true)`;
}
