import { type AggregateName, aggregateOf, type DistinctName } from "./aggregates.ts";
import { bucketFigure } from "./buckets/figures.ts";
import {
  type Ask,
  type Context,
  contextOf,
  distinctNames,
  distinctOf,
  groupedBy,
  groupNames,
  groupsOf,
  isLong,
  type Section,
  totalIsApart,
} from "./context.ts";
import { isTime, UTC } from "./dimensions.ts";
import { POSTGRES } from "./engines.ts";
import { asksForExplanation, explanationTables } from "./explained.ts";
import { factsSql } from "./facts.ts";
import { membersInAll, membersSql } from "./members.ts";
import type { Query } from "./parameters.ts";
import {
  isTogether,
  peoplePart,
  peopleTable,
  type SumsPart,
  sessionsPart,
  sessionsTable,
  sumRows,
} from "./rollup/dimension-sums.ts";
import { addedSql, firstSql, rankNames, shownSql } from "./shown.ts";

/**
 * The statement that answers a report: a row for each group in the order in which they are shown, and the total, for which
 * `is_total` is true. The columns are `d1`, `d2`, and for each window (`c_` current, `p_` previous) the aggregates; a window
 * without records has no `records`, and one whose money is a lower bound has `uncertain` ones.
 *
 * Facts are summed up by group. Whatever is counted distinctly becomes a set of members first. Each of these, and the sums
 * of days, is a part of the answer: parts have the same columns, and add up.
 */
export function planReport(ask: Ask): Query {
  const context = contextOf(ask);
  return { text: statementOf(context), params: context.params.values, isLong: isLong(context) };
}

/** The text of `planReport`, as a part of another statement too. */
export function statementOf(context: Context): string {
  const { ask } = context;
  const sections = sectionsOf(context);
  const tables = sections.flatMap((section) => [
    ...peopleTable(context, section),
    ...sessionsTable(context, section),
    ...(section.isOwn ? [...factsTables(context, section), ...membersTables(context, section)] : []),
  ]);
  if (asksForExplanation(ask.spec)) tables.unshift(...explanationTables(ask, context.params));
  const parts = sections.flatMap((section) => partsOf(context, section));
  return `with ${tables.join(",\n")},
parts as (${parts.map((part, i) => partSql(context, part, i === 0)).join("\n  union all")}
),
sides as (${addedSql(context)}
),
cells as (${ask.engine.sides("sides", context.names, groupsOf(context))}
)
${shownSql(context)}`;
}

/** `isOwn`: it has tables of its own; else it is made of those of the groups. */
type Place = Section & { isOwn: boolean };

function sectionsOf(context: Context): Place[] {
  const { dimensions } = context.ask.spec;
  const groups: Place = { total: false, dimensions, facts: "facts", isOwn: true };
  if (dimensions.length === 0) return [{ ...groups, total: true }];
  if (onePass(context)) return [groups];
  // The total is of all groups, not of the chosen ones.
  const isApart = totalIsApart(context);
  const isOwn = isApart || isChosen(context);
  const all = isApart ? "facts_all" : "every_fact";
  return [groups, { total: true, dimensions: [], facts: isOwn ? all : "facts", isOwn }];
}

/** How groups and total are made together. */
const onePass = (context: Context) =>
  context.ask.spec.dimensions.length === 0 || totalIsApart(context)
    ? null
    : context.ask.engine.groupsAndTotal(context.ask.spec.dimensions.map((_, i) => `d${i + 1}`));

/** Facts are copied once where they are few: single records, and cells beside sums. Many cells are rather read again. */
function factsTables(context: Context, section: Section): string[] {
  if (section.total && section.facts === "every_fact") return [];
  if (context.factsFrom) return [`${section.facts} as not materialized (${context.factsFrom})`];
  const facts = factsSql(context, section);
  return !section.total && isChosen(context)
    ? [`every_fact as materialized (${facts}\n)`, ...chosenTables(context, section.facts)]
    : [`${section.facts} as ${context.ask.engine.table(!isLong(context))}(${facts}\n)`];
}

/** Sessions are the groups without number: the ones that are shown are chosen first, if facts alone put them in order. */
const isChosen = (context: Context): boolean =>
  isLong(context) &&
  context.ask.spec.dimensions.includes("session") &&
  rankNames(context.ask.spec).every((name) => !distinctOf(context, name));

function chosenTables(context: Context, facts: string): string[] {
  const groups = groupsOf(context);
  const names = [...new Set<AggregateName>(["records", ...rankNames(context.ask.spec)])];
  return [
    `ranked as materialized (
  select false as total, current, ${groups}, ${names.map((name) => `${sumSql(context, name)} as ${name}`).join(", ")}
  from every_fact group by current, ${groups}
)`,
    `ranking as materialized (${POSTGRES.sides("ranked", names, groups)}\n)`,
    `chosen as materialized (select ${groups} from (${firstSql(context, "ranking")}) x)`,
    `${facts} as materialized (select f.* from every_fact f join chosen using (${groups}))`,
  ];
}

/** The sums of a section's groups, and the members that are counted in each of them; nothing where all is counted at once. */
function membersTables(context: Context, section: Section): string[] {
  if (context.ask.engine.counts === "atOnce") return [];
  const names = namesOfSums(context);
  const sums = sumRows(context, section, names);
  const groups = groupedBy(context, section);
  const own = (columns: readonly string[]) => `select ${[groups, "billed", ...columns].join(", ")} from`;
  const from = sums
    ? `(${own(sums.columns.map((name) => (isTogether(name) ? `0 as ${name}` : name)))} ${section.facts}
    union all ${own(sums.columns)} ${sums.from}) f`
    : section.facts;
  const figure = (name: AggregateName) =>
    sums?.figures[name] ?? (distinctOf(context, name) ? "null::bigint" : sumSql(context, name));
  return [
    `sums_of_${section.facts} as materialized (
  select ${[groups, ...names.map((name) => `${figure(name)} as ${name}`)].join(", ")}
  from ${from} group by ${groups}
)`,
    ...distinctNames(context).map(
      (name) => `${name}_of_${section.facts} as materialized (${membersSql(context, section, name)}\n)`,
    ),
  ];
}

/** The aggregates that add up over facts, and those that sums by one dimension add to distinct counts. */
const namesOfSums = (context: Context): AggregateName[] =>
  context.names.filter((name) => !distinctOf(context, name) || (context.kind !== null && isTogether(name)));

/** What a section is made of: its sums, and the members that are counted in it. */
function partsOf(context: Context, section: Place): PartOf[] {
  if (context.ask.engine.counts === "atOnce") {
    const figures = context.names.map((name) => [name, atOnceSql(context, name)]);
    return [{ from: section.facts, figures: Object.fromEntries(figures), total: section.total }];
  }
  const parts = [
    sumsPart(context, section),
    ...distinctNames(context).map((name) => membersPart(context, section, name)),
    togetherPart(context, section),
    sessionsPart(context, section),
    peoplePart(context, section),
  ];
  return parts.flatMap((part) => (part ? [{ ...part, total: section.total }] : []));
}
/** `isAdded`: rows added up. */
type PartOf = SumsPart & { total: boolean; isAdded?: boolean };

function sumsPart(context: Context, section: Place): Omit<PartOf, "total"> {
  const { facts, isOwn } = section;
  // Percentiles of single records do not add up: all of them are looked at again.
  const isAnew = !isOwn && context.facts === "records";
  const names = isOwn || context.kind === "total" ? namesOfSums(context) : summedNames(context);
  const figures = names.map((name) => [name, isAnew ? sumSql(context, name) : name]);
  return {
    from: isAnew ? facts : `sums_of_${facts}`,
    figures: Object.fromEntries(figures),
    isAdded: !isAnew,
  };
}

/** What sums by one dimension count of all values is read again for a total. */
const togetherPart = (context: Context, section: Place): SumsPart | null =>
  section.isOwn || context.kind === "total"
    ? null
    : sumRows(context, section, context.names.filter(isTogether));

function membersPart(context: Context, section: Place, name: DistinctName): SumsPart {
  const table = `${name}_of_${section.facts}`;
  const counts = context.names.flatMap((one) => {
    const distinct = distinctOf(context, one);
    return distinct?.name === name ? [[one, distinct.sql]] : [];
  });
  // A day is in one group of times; an hour of UTC may be in two where a zone is off by part of one, and single records are read.
  const { spec, timeZone } = context.ask;
  const isUncut = timeZone === UTC || context.facts === "cells";
  const isOnce = section.isOwn || (name === "hour" && isUncut && spec.dimensions.every(isTime));
  const from = isOnce ? table : `(${membersInAll(context, section, name)}) e`;
  return { from, figures: Object.fromEntries(counts) };
}

/** The first part names the columns, and gives them their type. */
function partSql(context: Context, { total, from, figures, isAdded }: PartOf, isFirst: boolean): string {
  const { names, ask } = context;
  const together = onePass(context);
  const figure = (name: AggregateName) => {
    const sql = figures[name];
    if (!isFirst || sql === name) return sql ?? "null";
    return `${sql ?? "null::numeric"} as ${name}`;
  };
  const groups = groupNames(ask.spec);
  const none = groups.map((name) => `'' as ${name}`);
  const own = [...groups.slice(0, ask.spec.dimensions.length), ...none.slice(ask.spec.dimensions.length)];
  const columns = [
    together
      ? `${together.isTotal} as total, current, ${own.join(", ")}`
      : isFirst
        ? `${total} as total, current, ${(total ? none : groups).join(", ")}`
        : `${total}, current, ${(total ? groups.map(() => "''") : groups).join(", ")}`,
    ...names.map(figure),
  ];
  return `
  select ${columns.join(", ")}
  from ${from}${isAdded ? "" : ` group by ${together?.by ?? groupedBy(context, { total })}`}`;
}

/** The aggregates that add up over facts. */
const summedNames = (context: Context): AggregateName[] =>
  context.names.filter((name) => !distinctOf(context, name));

/** An aggregate over facts, which are single records or sums of them. */
const sumSql = ({ facts }: Context, name: AggregateName): string => aggregateOf(name)[facts] ?? "null";

/** An aggregate over single records where the database counts distinctly by itself. */
const atOnceSql = (context: Context, name: AggregateName): string =>
  context.buckets !== null
    ? bucketFigure(context.buckets, name)
    : (distinctOf(context, name)?.atOnce ?? aggregateOf(name).atOnce ?? aggregateOf(name).records);
