import type { RequestRow, State } from "#drizzle/schema/records.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { MODEL_MAX, parseLabel } from "#shared/labels.ts";
import { inputTokens, NO_USAGE } from "#shared/usage.ts";
import type { Call, Choice, Labels, Target } from "../call.ts";
import type { ErrorType } from "../errors.ts";
import type { Priced, Reading } from "../reading.ts";

/** What is known of a call once its story has ended. */
export type Facts = {
  state: State;
  /** HTTP status of the answer; null when its client left before there was one. */
  status: number | null;
  errorType: ErrorType | `upstream_${number}` | null;
  /** The provider that answered, or was tried last; null when none was. */
  target: Target | null;
  attempts: number;
  providerRequestId: string | null;
  reading: Reading | null;
  priced: Priced;
  latencyMs: number;
  ttftMs: number | null;
};

/**
 * The record of a call on its way: exactly what is stored if nothing more is heard of it, because the process died.
 * Nothing of the body is in it but the labels.
 */
export function openEntry(call: Call, labels: Labels, choice: Choice, guardrail: string | null): RequestRow {
  const first = choice.targets[0];
  return {
    orgId: DEFAULT_ORG,
    id: call.id,
    startedAt: call.admittedAt.toISOString(),
    surface: call.surface,
    channel: choice.channel,
    state: "interrupted",
    streamed: call.streamed,
    attempts: 1,
    route: choice.routeName,
    routeSource: choice.source,
    classifierVersion: choice.classifierVersion ?? null,
    guardrail,
    provider: first.provider.name,
    model: first.model,
    keyId: call.key.id,
    owner: call.key.owner,
    userLabel: labels.userLabel,
    session: labels.session,
    client: labels.client,
    tags: labels.tags,
    agentId: labels.agentId,
    parentAgentId: labels.parentAgentId,
    usageSource: "none",
    unpriced: true,
    partial: true,
  };
}

/** What a provider says of itself. A text that Postgres would refuse must not take the whole record with it. */
const told = (text: string | null | undefined): string | null => parseLabel(text, MODEL_MAX);

/** The final record of a call: the entry and how it ended. */
export function closeEntry(entry: RequestRow, facts: Facts): RequestRow {
  const usage = facts.reading?.usage ?? NO_USAGE;
  return {
    ...entry,
    state: facts.state,
    status: facts.status,
    errorType: facts.errorType,
    attempts: facts.attempts,
    provider: facts.target?.provider.name ?? entry.provider,
    model: facts.target?.model ?? entry.model,
    responseModel: told(facts.reading?.responseModel),
    serviceTier: told(facts.reading?.serviceTier),
    providerRequestId: told(facts.providerRequestId),
    latencyMs: Math.round(facts.latencyMs),
    ttftMs: facts.ttftMs === null ? null : Math.round(facts.ttftMs),
    usageSource: facts.reading?.usageSource ?? "none",
    ...usage,
    inputTokens: inputTokens(usage),
    costUsd: facts.priced.costUsd,
    tokenCostUsd: facts.priced.tokenCostUsd,
    price: facts.priced.price,
    unpriced: facts.priced.costUsd === null,
    partial: facts.reading?.usageSource === "partial",
  };
}
