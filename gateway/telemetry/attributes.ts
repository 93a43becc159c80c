import type { Attributes } from "@opentelemetry/api";
import type { RequestRow } from "#drizzle/schema/records.ts";

/** Surfaces by the operation names of OpenTelemetry's conventions for generative AI; others keep their own name. */
const OPERATIONS: Readonly<Record<string, string>> = {
  "chat.completions": "chat",
  messages: "chat",
  responses: "chat",
  completions: "text_completion",
  embed_content: "embeddings",
};

export const operationOf = ({ surface }: RequestRow): string => OPERATIONS[surface] ?? surface;

/** What metrics are counted by. */
export const dimensionsOf = (row: RequestRow): Attributes =>
  known({
    "gen_ai.operation.name": operationOf(row),
    "gen_ai.provider.name": row.provider,
    "gen_ai.request.model": row.model,
    "error.type": errorOf(row),
  });

/** Facts of a record as attributes of its span. Money is text, because it is exact. */
export const attributesOf = (row: RequestRow): Attributes =>
  known({
    ...dimensionsOf(row),
    "gen_ai.response.model": row.responseModel,
    "gen_ai.usage.input_tokens": row.inputTokens,
    "gen_ai.usage.output_tokens": row.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": row.cacheReadTokens,
    "gen_ai.usage.reasoning.output_tokens": row.reasoningTokens,
    "gen_ai.conversation.id": row.session,
    "http.response.status_code": row.status,
    "tallygate.request_id": row.id,
    "tallygate.surface": row.surface,
    "tallygate.state": row.state,
    "tallygate.route": row.route,
    "tallygate.channel": row.channel,
    "tallygate.client": row.client,
    "tallygate.team": row.teams?.[0],
    "tallygate.attempts": row.attempts,
    "tallygate.cost_usd": row.costUsd,
    "tallygate.cost_is_lower_bound": row.partial,
    "tallygate.time_to_first_token_ms": row.ttftMs,
  });

/** Why a call failed; null for one that did not. */
export const errorOf = ({ state, errorCause, errorType }: RequestRow): string | null =>
  state === "ok" ? null : (errorCause ?? errorType ?? state);

/** Unknown facts have no attribute. */
function known(all: Record<string, string | number | boolean | null | undefined>): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(all)) if (value != null) attributes[name] = value;
  return attributes;
}
