import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable } from "../schema.ts";

const Text = nullable(Type.String());
const Count = nullable(Type.Integer());
const Money = nullable(Type.String({ description: "Exact decimal, USD; null is unknown." }));

const record = {
  id: Type.String({ format: "uuid" }),
  started_at: Type.String(),
  surface: Type.String(),
  channel: Type.String(),
  state: Type.String({ description: "How the call ended." }),
  status: Count,
  error_type: Text,
  error_cause: nullable(
    Type.String({
      description: "Why the provider gave no complete answer, such as `refused` or `timeout_idle`.",
    }),
  ),
  streamed: Type.Boolean(),
  attempts: Type.Integer(),
  route: Type.String(),
  route_source: Type.String(),
  classifier_version: Text,
  guardrail: Text,
  provider: Text,
  model: Text,
  response_model: Text,
  model_mismatch: Type.Boolean({
    description: "Another model answered than `model`, and the record is priced by it.",
  }),
  service_tier: Text,
  provider_request_id: Text,
  key_id: Type.String({ format: "uuid" }),
  key_name: Text,
  owner: Text,
  user_label: Text,
  team: nullable(Type.String({ description: "The key's team at the time of the call." })),
  cost_center: Text,
  session: Text,
  agent_session: nullable(Type.String({ description: "The agent's own session, where another one counts." })),
  parent_session: nullable(
    Type.String({ description: "Of a sub-agent: the session of the agent that began it." }),
  ),
  client: Type.String(),
  tags: Type.Array(Type.String()),
  agent_id: Text,
  parent_agent_id: Text,
  latency_ms: Count,
  ttft_ms: Count,
  usage_source: Type.String({ description: "`provider`, `partial` (a lower bound) or `none`." }),
  input_tokens: Count,
  uncached_input_tokens: Count,
  cache_read_tokens: Count,
  cache_write_5m_tokens: Count,
  cache_write_1h_tokens: Count,
  output_tokens: Count,
  reasoning_tokens: Count,
  audio_input_tokens: Count,
  audio_output_tokens: Count,
  images: Count,
  characters: Count,
  documents: Count,
  search_units: Count,
  web_searches: Count,
  dropped_members: Count,
  image_input_tokens: Count,
  image_output_tokens: Count,
  search_sources: Count,
  cache_read_audio_tokens: Count,
  file_searches: Count,
  variant: nullable(
    Type.String({
      description:
        "Size and quality of the images asked for, the search (`low`, `high pro`), or the search tool, if its name sets its price.",
    }),
  ),
  cost_usd: Money,
  token_cost_usd: Money,
  cost_basis: nullable(
    Type.String({
      description:
        "Where the cost comes from: `list` (counts times list prices), `contract` (times your own prices), `vendor` (the provider's own figure), or of a batch `interactive` or `batch` prices. Null: unknown or free.",
    }),
  ),
  list_cost_usd: nullable(
    Type.String({
      description:
        "By the price list, where the cost comes from elsewhere; null if the list has no price. Exact decimal.",
    }),
  ),
  discounted_cost_usd: nullable(
    Type.String({ description: "Of a batch: at the provider's prices for batches. Exact decimal." }),
  ),
  unpriced: Type.Boolean(),
  partial: Type.Boolean({
    description: "The cost is at least this: usage is missing, or something was billed without a figure.",
  }),
  ceiling: Type.Boolean({ description: "The cost is at most this: a batch at interactive prices." }),
};

/** One record in a list. No member can contain text of a prompt, an answer or a key. */
export const RequestView = closed(record);
export type RequestView = Static<typeof RequestView>;

/** Explanation of a record's cost. */
const Explanation = closed({
  reason: Type.String({ description: "How the cost was determined, in a sentence." }),
  entry: nullable(Type.String({ description: "Where the prices come from." })),
  repriced_at: nullable(
    Type.String({
      description: "When it was priced, if that was later than the call.",
    }),
  ),
  savings_usd: nullable(
    Type.String({
      description:
        "List-price cost less the cost, where your own price counts and the list has one. Exact decimal.",
    }),
  ),
  usage_source: Type.String(),
  rows: Type.Array(
    closed({
      unit: Type.String(),
      count: Type.Number(),
      usd_per_unit: Type.String(),
      usd: Type.String({ description: "Count times price, exact." }),
    }),
    { description: "The lines that add up to the cost." },
  ),
  versions: Type.Array(
    closed({
      cost_usd: Money,
      cost_basis: Text,
      list_cost_usd: Money,
      entry: nullable(Type.String({ description: "Where its prices came from." })),
      until: Type.String({ description: "When it was replaced." }),
      actor: Type.String({ description: "Who replaced it." }),
      reason: Type.String({
        description:
          "Why it was replaced: `repriced` (it had no price), `restated` (by corrected prices), `settled` (the provider's answer ended later).",
      }),
    }),
    { description: "What the record cost before, the first version first." },
  ),
});
/** A record's own page. */
export const RequestPage = closed({ ...record, cost: Explanation });
export type RequestPage = Static<typeof RequestPage>;
