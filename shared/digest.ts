import { type Static, Type } from "@sinclair/typebox";
import { Decomposition, Window } from "./report.ts";
import { closed, Flag, NumeralOrNull, nullable } from "./schema.ts";

const Usd = NumeralOrNull("USD; null is unknown.");
const Count = Type.Integer({ minimum: 0 });

/** Merged pull requests of one week, all or one repository's, as the reports count them. */
export const DigestFigures = closed({
  merged_prs: Count,
  joined_prs: Count,
  reverted_prs: Count,
  cost_usd: Usd,
  cost_per_merged_pr: Usd,
  reverted_cost_usd: NumeralOrNull("Cost of the reverted merges' sessions."),
  lower_bound: Flag("True if a merge has no known cost."),
});
export type DigestFigures = Static<typeof DigestFigures>;

/** Merges of the week without exactly one known session, by the fault of their stamp. */
export const NotJoined = closed({ no_stamp: Count, conflict: Count, unknown_session: Count, claimed: Count });
export type NotJoined = Static<typeof NotJoined>;

const sides = { current: nullable(DigestFigures), previous: nullable(DigestFigures) };

/** The weekly report to managers: seven whole days in UTC, compared with the seven before. */
export const Digest = closed({
  period: Window,
  previous_period: Window,
  total: closed(sides),
  not_joined: NotJoined,
  repositories: Type.Array(closed({ repository: Type.String(), ...sides }), {
    description: "Most expensive first, at most 50.",
  }),
  repositories_left_out: Count,
  spend: nullable(Decomposition),
});
export type Digest = Static<typeof Digest>;
