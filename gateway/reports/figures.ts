import { type AggregateName, aggregateOf } from "./aggregates.ts";
import { bucketFigure } from "./buckets/figures.ts";
import { type Context, distinctOf } from "./context.ts";

/** The aggregates that add up over facts. */
export const summedNames = (context: Context): AggregateName[] =>
  context.names.filter((name) => !distinctOf(context, name));

/** An aggregate over facts, which are single records or sums of them. */
export const sumSql = ({ facts }: Context, name: AggregateName): string => aggregateOf(name)[facts] ?? "null";

/** An aggregate over single records where the database counts distinctly by itself. */
export const atOnceSql = (context: Context, name: AggregateName): string =>
  context.buckets !== null
    ? bucketFigure(name)
    : (distinctOf(context, name)?.atOnce ?? aggregateOf(name).atOnce ?? aggregateOf(name).records);
