import { DISTINCT, type DistinctName } from "./aggregates.ts";
import { type Context, groupedBy, groupNames, type Section } from "./context.ts";
import { hasSums, knownSql, peopleOf, unitOf } from "./rollup/dimension-sums.ts";
import { COUNTS, type Counted } from "./rollup/kinds.ts";

/** Whatever is counted distinctly, once in each group. */
export function membersSql(context: Context, section: Section, name: DistinctName): string {
  const { member, carries } = DISTINCT[name];
  const isSummed = context.kind !== null;
  const groups = [
    groupedBy(context, section),
    ...(isSummed && context.kind !== "total" ? ["value"] : []),
    member,
    ...(name === "hour" ? ["day"] : []),
  ];
  const columns = [
    ...groups.map((column) => (column === member ? `${member} as member` : column)),
    ...carries,
  ];
  const isCounted = name in COUNTS;
  const day = isSummed && isCounted ? ["min(day) as day"] : [];
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
  if (!hasSums(context)) return `select e.*, true as fresh, billed as billed_fresh from (${members}) e`;
  if (entity === "person") {
    const groups = ["current", ...(section.total ? [] : groupNames(context.ask.spec))];
    const isNew = (people: string) => `coalesce(get_bit(p.${people}, n.n), 0) = 0`;
    return `
  select e.*, ${isNew("people")} as fresh, billed and ${isNew("billed_people")} as billed_fresh
  from (${members}) e
  left join rollup_people n on n.org_id = ${context.params.add(context.ask.orgId, "text")} and n.person = e.member
  left join ${peopleOf(section)} p on ${groups.map((name) => `p.${name} = e.${name}`).join(" and ")}`;
  }
  const { start, end } = unitOf(section, "e.day");
  const unit = end === null ? "" : `, ${start("'-infinity'")} as since, ${end} as until`;
  return `
  select e.*, known & 1 = 0 as fresh, billed and known & 2 = 0 as billed_fresh
  from (
    select e.*, ${knownSql(context, section)} as known from (
    select e.*${unit} from (${members}) e offset 0
    ) e offset 0
  ) e`;
}

/** Each member of the groups once. */
export function membersInAll(context: Context, section: Section, name: DistinctName): string {
  const groups = ["current", "member", ...(name === "hour" ? ["day"] : [])];
  const isCounted = name in COUNTS;
  const isSummed = context.kind !== null && isCounted;
  const columns = [...groups, ...DISTINCT[name].again, ...(isSummed ? ["min(day) as day"] : [])];
  const members = `
    select ${columns.join(", ")} from ${name}_of_${section.facts} group by ${groups.join(", ")}`;
  return isCounted ? freshSql(context, section, { entity: name as Counted, members }) : members;
}
