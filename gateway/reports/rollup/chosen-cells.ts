import type { DimensionName } from "#shared/report.ts";
import { DIMENSION } from "../dimensions.ts";
import { type Context, OF_DAY } from "./context.ts";
import { IS_ID } from "./picked.ts";

/**
 * A condition on cells `r` by which those of the groups `ranked` are read and hardly others: so that they can be summed up
 * where they are read, by several processes. A group of a key has the name of one and perhaps, as its id, that of another.
 */
export function inChosen({ ask, params }: Context, dimensions: readonly DimensionName[]): string {
  const place = dimensions.indexOf("key");
  const groups = (id: string) => dimensions.map((_, i) => (i === place ? id : `c.d${i + 1}`)).join(", ");
  const label = `c.d${place + 1}`;
  const chosen =
    place < 0
      ? `select ${groups("")} from ranked c`
      : `
      select ${groups("k.id")} from ranked c join keys k on k.name = ${label}
      where k.org_id = ${params.add(ask.orgId, "text")}
      union all select ${groups(`${label}::uuid`)} from ranked c where ${label} ${IS_ID}`;
  return `(${dimensions.map(ofCell).join(", ")}) in (${chosen})`;
}

const ofCell = (name: DimensionName): string =>
  name === "key" ? "r.key_id" : (OF_DAY[name] ?? DIMENSION[name].sql.replace("not r.attributed", "false"));
