import { DISTINCT, type DistinctName } from "./aggregates.ts";
import { type Context, groupedBy, groupNames, type Section } from "./context.ts";
import { hasSums, peopleOf, sessionsOf } from "./rollup/dimension-sums.ts";
import { COUNTS, type Counted } from "./rollup/kinds.ts";

/** Whatever is counted distinctly, once in each group. */
export function membersSql(context: Context, section: Section, name: DistinctName): string {
  const { member, carries } = DISTINCT[name];
  const groups = [groupedBy(context, section), member, ...(name === "hour" ? ["day"] : [])];
  const columns = [
    ...groups.map((column) => (column === member ? `${member} as member` : column)),
    ...carries,
  ];
  const members = `
  select ${columns.join(", ")}
  from ${section.facts} where ${member} is not null group by ${groups.join(", ")}`;
  return name in COUNTS ? freshSql(context, section, { entity: name as Counted, members }) : members;
}

/** Members with whether they count (`fresh`, `billed_fresh`): sums of the window do not have them already. */
function freshSql(
  context: Context,
  section: Section,
  { entity, members }: { entity: Counted; members: string },
): string {
  if (!hasSums(context)) return `select e.*, true as fresh, billed as billed_fresh from (${members}) e`;
  const groups = ["current", ...(section.total ? [] : groupNames(context.ask.spec))];
  const isOfGroup = groups.map((name) => `p.${name} = e.${name}`).join(" and ");
  const org = () => context.params.add(context.ask.orgId, "text");
  const [has, joins] =
    entity === "person"
      ? [
          ["get_bit(p.people, n.n)", "get_bit(p.billed_people, n.n)"],
          `left join rollup_people n on n.org_id = ${org()} and n.person = e.member
  left join ${peopleOf(section)} p on ${isOfGroup}`,
        ]
      : [
          ["p.known & 1", "p.known & 2"],
          `left join ${sessionsOf(section)} p on ${isOfGroup} and p.session = e.member`,
        ];
  const [fresh, billed] = has.map((bit) => `coalesce(${bit}, 0) = 0`);
  return `
  select e.*, ${fresh} as fresh, billed and ${billed} as billed_fresh
  from (${members}) e
  ${joins}`;
}

/** Each member of the groups once. */
export function membersInAll(context: Context, section: Section, name: DistinctName): string {
  const groups = ["current", "member", ...(name === "hour" ? ["day"] : [])];
  const members = `
    select ${[...groups, ...DISTINCT[name].again].join(", ")} from ${name}_of_${section.facts} group by ${groups.join(", ")}`;
  return name in COUNTS ? freshSql(context, section, { entity: name as Counted, members }) : members;
}
