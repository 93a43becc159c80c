import { DISTINCT, type DistinctName } from "./aggregates.ts";
import { type Context, groupsOf, type Section } from "./context.ts";
import { unitOf } from "./rollup/dimension-sums.ts";
import { COUNTS, type Counted } from "./rollup/kinds.ts";
import { knownSql } from "./rollup/known.ts";

/** What rows are grouped by. */
export const groupedBy = (context: Context, { total }: Pick<Section, "total">): string =>
  total ? "current" : `current, ${groupsOf(context)}`;

/** Whatever is counted distinctly, once in each group. */
export function membersSql(context: Context, section: Section, name: DistinctName): string {
  const { member, carries } = DISTINCT[name];
  const hasSums = context.kind !== null;
  const groups = [
    groupedBy(context, section),
    ...(hasSums && context.kind !== "total" ? ["value"] : []),
    member,
    ...(name === "hour" ? ["day"] : []),
  ];
  const columns = [
    ...groups.map((column) => (column === member ? `${member} as member` : column)),
    ...carries,
  ];
  const isCounted = name in COUNTS;
  const day = hasSums && isCounted ? ["min(day) as day"] : [];
  const members = `
  select ${[...columns, ...day].join(", ")}
  from ${section.facts} where ${member} is not null group by ${groups.join(", ")}`;
  return isCounted ? freshSql(context, section, { entity: name as Counted, members }) : members;
}

/** Members with whether they count (`fresh`, `billed_fresh`): sums of the window do not have them already. */
function freshSql(
  context: Context,
  section: Section,
  { entity, members }: { entity: Counted; members: string },
): string {
  const { start, end } = unitOf(section, "e.day");
  const known = knownSql(context, section, entity);
  const unit = known === null || end === null ? "" : `, ${start("'-infinity'")} as since, ${end} as until`;
  return `
  select e.*, known & 1 = 0 as fresh, billed and known & 2 = 0 as billed_fresh
  from (
    select e.*, ${known ?? "0"} as known from (
    select e.*${unit} from (${members}) e offset 0
    ) e offset 0
  ) e`;
}

/** Each member of the groups once. */
export function membersInAll(context: Context, section: Section, name: DistinctName): string {
  const groups = ["current", "member", ...(name === "hour" ? ["day"] : [])];
  const isCounted = name in COUNTS;
  const hasSums = context.kind !== null && isCounted;
  const columns = [...groups, ...DISTINCT[name].again, ...(hasSums ? ["min(day) as day"] : [])];
  const members = `
    select ${columns.join(", ")} from ${name}_of_${section.facts} group by ${groups.join(", ")}`;
  return isCounted ? freshSql(context, section, { entity: name as Counted, members }) : members;
}
