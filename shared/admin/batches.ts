import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, nullable, Text, TextOrNull } from "../schema.ts";

/** A batch: its outcome and its cost. */
export const BatchView = closed({
  id: Text("The provider's own id."),
  kind: Text("`lines` (OpenAI's) or `messages` (Anthropic's)."),
  provider: Type.String(),
  endpoint: Type.String(),
  status: Text("The provider's status, as last reported."),
  requests: nullable(Type.Integer()),
  routes: Type.Array(Type.String()),
  models: Type.Array(Type.String()),
  session: nullable(Type.String()),
  created_at: Type.String(),
  reconciled_at: TextOrNull("When its cost was recorded; null until then."),
  cost_usd: TextOrNull("Exact decimal; null while unknown."),
  floor: Flag("The cost is a lower bound."),
  ceiling: Flag("The cost is at most this."),
  basis: Text("`interactive_rates`: an over-estimate; `batch_rates`: the provider's own for batches."),
  discounted_cost_usd: TextOrNull("At the provider's prices for batches. Exact decimal; null while unknown."),
  request_id: Text("Id of its record, once recorded."),
});
export type BatchView = Static<typeof BatchView>;
