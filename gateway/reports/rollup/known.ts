import type { Context, Section } from "../context.ts";
import { activeSql } from "./active-days.ts";
import type { Cover } from "./cover.ts";
import { kindOf, unitOf, type WindowSums, windowSums } from "./dimension-sums.ts";
import { billedSql, type Counted, EVERYTHING, valueSql, whoSql } from "./kinds.ts";

/**
 * In which lanes a person or session `e` (`value`, `member`, `day`, `current`) is in the sums of its window already, and of
 * its group where that is a time (from `e.since` to before `e.until`): as a set of bits, 1 for all records and 2 for those that are billed. Null where nobody
 * can be.
 */
export function knownSql(context: Context, section: Section, entity: Counted): string | null {
  const windows = windowSums(context).filter(({ current }) =>
    hasOthers(context.covers[current ? "current" : "previous"]),
  );
  const [one, other] = windows;
  if (!one) return null;
  const { ask, params, scope } = context;
  const org = params.add(ask.orgId, "text");
  const kind = kindOf(context, section);
  // Where one window has facts beside its sums, members are of that one alone.
  const isOne = !other && !hasOthers(context.covers[one.current ? "previous" : "current"]);
  const side = (of: (sums: WindowSums) => string): string =>
    isOne
      ? of(one)
      : `case ${windows.map((sums) => `when ${sums.current ? "" : "not "}e.current then ${of(sums)}`).join(" ")} end`;
  const isUnit = unitOf(section, "e.day").end !== null;
  const first = side(({ fromDay }) => params.add(fromDay, "date"));
  const [from, end] = isUnit ? [`greatest(${first}, e.since)`, "e.until"] : [first, null];
  if (entity === "person") {
    const who = whoSql({
      entity: "'person'",
      kind: `'${kind}'`,
      scope: params.add(scope, "text"),
      value: kind === "total" ? "''" : "e.value",
      text: "e.member",
    });
    const to = side(({ toDay }) => params.add(toDay, "date"));
    return activeSql(org, who, { from, to, toHour: side(({ toHour }) => String(toHour)), end });
  }
  const until = side(({ endMs }) => params.instant(endMs));
  const value = kind === "total" ? "" : ` and ${valueSql(kind)} = e.value`;
  const inScope = scope === EVERYTHING ? "" : ` and ${params.add(scope, "text")} = any(r.teams)`;
  return `(select coalesce(bit_or(case when ${billedSql("r.")} then 3 else 1 end), 0)
      from (select c.*, true as attributed from rollup_hours c) r
      where r.org_id = ${org} and r.session = e.member${value}${inScope}
        and r.day >= ${from} and r.hour < ${until}${end ? ` and r.day < ${end}` : ""})`;
}

/** Whether a window has facts that distinct deltas do not count. */
function hasOthers(cover: Cover | null): boolean {
  if (!cover) return false;
  const { sums, days, hours, raw } = cover;
  return [...days, ...hours, ...raw].some(
    ({ fromMs, toMs }) => !sums || fromMs < sums.fromMs || toMs > sums.endMs,
  );
}
