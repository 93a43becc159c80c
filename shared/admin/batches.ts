import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable } from "../schema.ts";

/** A batch: its outcome and its cost. */
export const BatchView = closed({
  id: Type.String({ description: "The provider's own id." }),
  kind: Type.String({ description: "`lines` (OpenAI's) or `messages` (Anthropic's)." }),
  provider: Type.String(),
  endpoint: Type.String(),
  status: Type.String({ description: "The provider's status, as last reported." }),
  requests: nullable(Type.Integer()),
  routes: Type.Array(Type.String()),
  models: Type.Array(Type.String()),
  session: nullable(Type.String()),
  created_at: Type.String(),
  reconciled_at: nullable(Type.String({ description: "When its cost was recorded; null until then." })),
  cost_usd: nullable(Type.String({ description: "Exact decimal; null while unknown." })),
  floor: Type.Boolean({ description: "The cost is a lower bound." }),
  ceiling: Type.Boolean({ description: "The cost is at most this." }),
  basis: Type.String({
    description: "`interactive_rates`: an over-estimate; `batch_rates`: the provider's own for batches.",
  }),
  discounted_cost_usd: nullable(
    Type.String({ description: "At the provider's prices for batches. Exact decimal; null while unknown." }),
  ),
  request_id: Type.String({ description: "Id of its record, once recorded." }),
});
export type BatchView = Static<typeof BatchView>;
