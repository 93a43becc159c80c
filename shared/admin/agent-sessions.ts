import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, Integer, Text, TextOrNull } from "../schema.ts";

const Money = (description: string) => TextOrNull(description);

/** What an agent's metrics report about a session, beside what the gateway recorded for it. */
export const AgentSessionView = closed({
  session: Type.String(),
  client: Type.String(),
  first_at: Type.String(),
  last_at: Text("Over its points in the window."),
  total_tokens: Integer("As the agent counts them."),
  estimated_cost_usd: Money("At list price, exact decimal; null is unknown."),
  estimate_is_lower_bound: Type.Boolean(),
  also_proxied: Flag(
    "This session also called through the gateway, under its own id or its task's, so the two costs cover the same work.",
  ),
  gateway_requests: Type.Integer(),
  gateway_cost_usd: Money("Known cost of its calls through the gateway, without subscription calls."),
});
export type AgentSessionView = Static<typeof AgentSessionView>;
