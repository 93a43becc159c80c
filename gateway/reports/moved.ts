import type { Movement } from "#shared/movement.ts";
import type { Ask } from "./context.ts";
import { movement } from "./movement.ts";
import { movementOf, movementQuery } from "./movement-query.ts";
import { type Databases, knownIn, recordsOf } from "./reach.ts";

/** What moved the cost of a report, by the prices of single records. @throws GatewayError if some of them are dropped. */
export async function movementIn(databases: Databases, ask: Ask, rollupsFrom: number): Promise<Movement> {
  const known = await knownIn(databases, { ...ask, single: "rate_mix_volume" }, rollupsFrom);
  const { rows, totals } = movementOf(await recordsOf(databases, known)(movementQuery({ ...ask, ...known })));
  return movement(rows, totals);
}
