import { type Static, Type } from "@sinclair/typebox";
import { Movement } from "./movement.ts";
import { Result } from "./report.ts";
import { closed, Flag, Integer, nullable, Text } from "./schema.ts";

/** What `POST /v1/reports/query` says beside its results. */
export const QUERY_FACTS = {
  scope: {
    ...nullable(closed({ team: Type.String() })),
    description: "The team that the reader's reports are limited to; null: no limit.",
  },
  complete: Flag(
    "False: calls that have just ended may be missing, because they could not be stored or copied in time.",
  ),
  time_zone: Text("IANA time zone in which days, weeks and months begin."),
  as_of: Text(
    "When the answer was asked for, or the query's `as_of`: the end of ranges that have none. Costs are those known then.",
  ),
};
export type QueryFacts = Static<ReturnType<typeof Type.Object<typeof QUERY_FACTS>>>;
/** Members of a report that `POST /v1/reports/query` answers. */
export const RESULT_MEMBERS = {
  ...Result.properties,
  empty: Flag("The report's windows have no records."),
  ceiling: Flag("It holds batches at interactive prices: at most this."),
  rate_mix_volume: Type.Optional(Movement),
};

/** One report, as `POST /v1/reports/query` answers it. */
export const QueryAnswer = closed({ ...RESULT_MEMBERS, ...QUERY_FACTS });
export type QueryAnswer = Static<typeof QueryAnswer>;

/** Several reports of one snapshot, in the order in which they were asked. */
export const QueryAnswers = closed({ results: Type.Array(closed(RESULT_MEMBERS)), ...QUERY_FACTS });
export type QueryAnswers = Static<typeof QueryAnswers>;

/** As `GET /v1/reports/query-schema.json` answers it. */
export const QUERY_JSON_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Answer of a report query",
  anyOf: [QueryAnswer, QueryAnswers],
};

/** Pages that show reports poll this, and reload the reports when it changes. */
export const RecordsVersion = closed({
  version: Integer(
    "Changes whenever reports may have changed: with records, joined merges, prices and teams. Of a team's manager: with what concerns the team.",
  ),
});
export type RecordsVersion = Static<typeof RecordsVersion>;
