import { newId } from "#shared/ids.ts";
import type { LocalGateway } from "#test/support/local-gateway.ts";

type Limits = {
  requests_per_minute?: number;
  tokens_per_minute?: number;
  concurrency?: number;
  budget_usd?: string;
  budget_period?: "day" | "month";
  when_away?: "local" | "refuse";
  unpriced?: "refuse" | "allow";
};

/** A client key with limits. */
export const limitedKey = (gateway: LocalGateway, limits: Limits) =>
  gateway.admin<{ id: string; name: string; secret: string }>("POST", "/keys", { name: newId(), limits });

export type Outcome = {
  status: number;
  type: string | null;
  code: string | null;
  message: string | null;
  headers: Headers;
};

/** One chat call, read to its end. `max_tokens` bounds its answer. */
export async function callOnce(
  url: string,
  secret: string,
  it: {
    model: string;
    maxTokens?: number;
    session?: string;
    tags?: string;
    content?: string;
    tier?: string;
    speed?: string;
    /** False: over a connection of its own. */
    keepalive?: boolean;
    signal?: AbortSignal;
  },
): Promise<Outcome> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      ...(it.session ? { "x-session-id": it.session } : {}),
      ...(it.tags ? { "x-tags": it.tags } : {}),
    },
    body: JSON.stringify({
      model: it.model,
      ...(it.maxTokens === undefined ? {} : { max_tokens: it.maxTokens }),
      ...(it.tier === undefined ? {} : { service_tier: it.tier }),
      ...(it.speed === undefined ? {} : { speed: it.speed }),
      messages: [{ role: "user", content: it.content ?? "hello" }],
    }),
    ...(it.keepalive === undefined ? {} : { keepalive: it.keepalive }),
    ...(it.signal ? { signal: it.signal } : {}),
  });
  const { error } = (await answer.json()) as { error?: { type: string; code: string; message: string } };
  return {
    status: answer.status,
    type: error?.type ?? null,
    code: error?.code ?? null,
    message: error?.message ?? null,
    headers: answer.headers,
  };
}
