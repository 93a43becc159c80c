import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, nullable, Text, TextOrNull } from "../schema.ts";

const AnyText = nullable(Type.String());
const Count = nullable(Type.Integer());
const Money = TextOrNull("Exact decimal, USD; null is unknown.");

const record = {
  id: Type.String({ format: "uuid" }),
  started_at: Type.String(),
  surface: Type.String(),
  channel: Type.String(),
  state: Text("How the call ended."),
  status: Count,
  error_type: AnyText,
  error_cause: TextOrNull("Why the provider gave no complete answer, such as `refused` or `timeout_idle`."),
  streamed: Type.Boolean(),
  attempts: Type.Integer(),
  route: Type.String(),
  route_source: Type.String(),
  classifier_version: AnyText,
  guardrail: AnyText,
  provider: AnyText,
  model: AnyText,
  response_model: AnyText,
  model_mismatch: Flag("Another model answered than `model`, and the record is priced by it."),
  service_tier: AnyText,
  provider_request_id: AnyText,
  key_id: Type.String({ format: "uuid" }),
  key_name: AnyText,
  owner: AnyText,
  user_label: AnyText,
  team: TextOrNull("The key's team at the time of the call."),
  cost_center: AnyText,
  session: AnyText,
  agent_session: TextOrNull("The agent's own session, where another one counts."),
  parent_session: TextOrNull("Of a sub-agent: the session of the agent that began it."),
  client: Type.String(),
  tags: Type.Array(Type.String()),
  agent_id: AnyText,
  parent_agent_id: AnyText,
  latency_ms: Count,
  ttft_ms: Count,
  usage_source: Text("`provider`, `partial` (a lower bound) or `none`."),
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
  variant: TextOrNull(
    "Size and quality of the images asked for, the search (`low`, `high pro`), or the search tool, if its name sets its price.",
  ),
  cost_usd: Money,
  token_cost_usd: Money,
  cost_basis: TextOrNull(
    "Where the cost comes from: `list` (counts times list prices), `contract` (times your own prices), `vendor` (the provider's own figure), or of a batch `interactive` or `batch` prices. Null: unknown or free.",
  ),
  list_cost_usd: TextOrNull(
    "By the price list, where the cost comes from elsewhere; null if the list has no price. Exact decimal.",
  ),
  discounted_cost_usd: TextOrNull("Of a batch: at the provider's prices for batches. Exact decimal."),
  unpriced: Type.Boolean(),
  partial: Flag("The cost is at least this: usage is missing, or something was billed without a figure."),
  ceiling: Flag("The cost is at most this: a batch at interactive prices."),
};

/** One record in a list. No member can contain text of a prompt, an answer or a key. */
export const RequestView = closed(record);
export type RequestView = Static<typeof RequestView>;

const Explanation = closed({
  reason: Text("How the cost was determined, in a sentence."),
  entry: TextOrNull("Where the prices come from."),
  repriced_at: TextOrNull("When it was priced, if that was later than the call."),
  savings_usd: TextOrNull(
    "List-price cost less the cost, where your own price counts and the list has one. Exact decimal.",
  ),
  usage_source: Type.String(),
  rows: Type.Array(
    closed({
      unit: Type.String(),
      count: Type.Number(),
      usd_per_unit: Type.String(),
      usd: Text("Count times price, exact."),
    }),
    { description: "The lines that add up to the cost." },
  ),
  versions: Type.Array(
    closed({
      cost_usd: Money,
      cost_basis: AnyText,
      list_cost_usd: Money,
      entry: TextOrNull("Where its prices came from."),
      until: Text("When it was replaced."),
      actor: Text("Who replaced it."),
      reason: Text(
        "Why it was replaced: `repriced` (it had no price), `restated` (by corrected prices), `settled` (the provider's answer ended later).",
      ),
    }),
    { description: "What the record cost before, the first version first." },
  ),
});
/** A record's own page. */
export const RequestPage = closed({ ...record, cost: Explanation });
export type RequestPage = Static<typeof RequestPage>;
