import { type Static, Type } from "@sinclair/typebox";
import { closed, IntegerOrNull, NumeralOrNull, nullable, oneOf, Text, TextOrNull } from "../schema.ts";
import { Instant, Name, SingleLine, Usd } from "./fields.ts";
import { Email } from "./people.ts";

/** Whose subscriptions, and the names (SQL's LIKE) of the agents that they are used with; none: use is not known. */
export const SEAT_AGENTS = {
  claude: ["claude%"],
  chatgpt: ["codex%", "chatgpt%"],
  copilot: ["copilot%", "github-copilot%"],
  cursor: ["cursor%"],
  gemini: ["gemini%"],
  other: [],
} as const satisfies Record<string, readonly string[]>;
// The keys of the table.
const VENDORS = Object.keys(SEAT_AGENTS) as (keyof typeof SEAT_AGENTS)[];

const seat = {
  person: { ...Email, description: "Who has it." },
  vendor: oneOf(VENDORS, "Whose subscription it is."),
  monthly_usd: Usd("What it costs a month."),
  effective_from: Instant("From when on it is paid."),
};
const seatRest = {
  plan: SingleLine(64, "Such as `Team` or `Max`."),
  effective_to: nullable(Instant("Until when, not included. Null: no end.")),
};

/** `POST /admin/v1/seats`. */
export const SeatBody = closed({ ...seat, ...Type.Partial(closed(seatRest)).properties });
/** `PATCH /admin/v1/seats/{id}`: absent members are kept. */
export const SeatPatch = Type.Partial(closed({ ...seat, ...seatRest }));
export type SeatPatch = Static<typeof SeatPatch>;

const text = Type.String();
const money = Text("Exact decimal, USD.");
const id = Type.String({ format: "uuid" });
const until = nullable(text);

export const SeatView = closed({
  id,
  person: text,
  vendor: text,
  plan: text,
  monthly_usd: money,
  effective_from: text,
  effective_to: until,
  created_at: text,
});
export type SeatView = Static<typeof SeatView>;

/** A seat in a month, beside the use of its agents. */
export const UsedSeat = closed({
  person: text,
  vendor: text,
  plan: text,
  monthly_usd: money,
  cost_usd: Text("Of the month, by the days in which it is paid."),
  calls: IntegerOrNull("Calls on the subscription lane, or operations that agents report. Null: not known."),
  value_usd: TextOrNull("What they would cost at the list's prices."),
  last_used_at: nullable(text),
});
export type UsedSeat = Static<typeof UsedSeat>;

export const SeatUse = closed({
  month: text,
  seats: Type.Array(UsedSeat),
  vendors: Type.Array(
    closed({
      vendor: text,
      seats: Type.Integer(),
      used: nullable(Type.Integer()),
      cost_usd: money,
      unused_usd: TextOrNull("Cost of seats without a call."),
      value_usd: nullable(money),
    }),
  ),
});
export type SeatUse = Static<typeof SeatUse>;

/** `POST /admin/v1/seats/import`. */
export const SeatsRead = closed({ added: Type.Integer(), changed: Type.Integer() });
export type SeatsRead = Static<typeof SeatsRead>;

const commitment = {
  name: SingleLine(64),
  kind: oneOf(
    ["commitment", "credit"],
    "A commitment or provisioned throughput pays for all use that it covers; a credit pays for use of its worth.",
  ),
  provider: { ...Name, description: "The provider whose use it covers." },
  amount_usd: Usd("What is paid for it."),
  effective_from: Instant("Use from then on is covered."),
  effective_to: Instant("Use from then on is not."),
};
const commitmentRest = {
  models: nullable(
    Type.Array(SingleLine(256), {
      minItems: 1,
      maxItems: 100,
      description: "Globs of the models. Null: all.",
    }),
  ),
  worth_usd: nullable(
    Usd("The cost of the use that it covers. Null: a credit's amount; all use of a commitment."),
  ),
};

/** `POST /admin/v1/commitments`. */
export const CommitmentBody = closed({ ...commitment, ...Type.Partial(closed(commitmentRest)).properties });
/** `PATCH /admin/v1/commitments/{id}`: absent members are kept. */
export const CommitmentPatch = Type.Partial(closed({ ...commitment, ...commitmentRest }));
export type CommitmentPatch = Static<typeof CommitmentPatch>;

const shown = {
  id,
  name: text,
  kind: text,
  provider: text,
  models: nullable(Type.Array(text)),
  amount_usd: money,
  worth_usd: nullable(money),
  effective_from: text,
  effective_to: text,
  created_at: text,
};
export const CommitmentView = closed(shown);
export type CommitmentView = Static<typeof CommitmentView>;

/** `GET /admin/v1/commitments/use`. */
export const CommitmentUse = closed({
  data: Type.Array(
    closed({
      ...shown,
      covered_usd: Text("Metered cost of the use that it covered so far."),
      left_usd: TextOrNull("What is left of its worth; null: it has none."),
      share: NumeralOrNull("Covered ÷ worth, or ÷ what was paid for the time so far."),
    }),
  ),
});
export type CommitmentUse = Static<typeof CommitmentUse>;
