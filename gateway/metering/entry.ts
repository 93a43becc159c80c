import { priceText } from "#drizzle/price-text.ts";
import type { RequestRow, RequestState } from "#drizzle/schema/records.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { KEPT_IDS_MAX, keptIdHash } from "#shared/kept-ids.ts";
import { MODEL_MAX, parseLabel } from "#shared/labels.ts";
import { inputTokens, NO_USAGE, type Usage } from "#shared/usage.ts";
import type { Call, CallLabels, Choice, Target } from "../call.ts";
import type { ErrorType, FailureCause } from "../errors.ts";
import type { Priced, Reading } from "../reading.ts";

/** How a call ended. */
export type Facts = {
  state: RequestState;
  /** HTTP status of the answer; null if the client disconnected before there was one. */
  status: number | null;
  errorType: ErrorType | `upstream_${string}` | null;
  /** Why the provider gave no complete answer. */
  errorCause?: FailureCause | null;
  /** The target that answered or was tried last; null if none was. */
  target: Target | null;
  attempts: number;
  providerRequestId: string | null;
  reading: Reading | null;
  /** A model other than the requested one answered. */
  modelMismatch?: boolean;
  priced: Priced;
  ttftMs: number | null;
  /** Members of the request that the translation left out; null if the call was not translated. */
  droppedMembers: number | null;
};

/** Unknown members are `undefined`, not null: nulls would make up half of the record's JSON. */
const known = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

type Known = { labels: CallLabels; guardrail: string | null };

/** The record of a running call, stored if the process dies. Of the body it has only labels. */
export function openEntry(call: Call, choice: Choice, { labels, guardrail }: Known): RequestRow {
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
    classifierVersion: known(choice.classifierVersion),
    guardrail: known(guardrail),
    provider: first.provider.name,
    model: known(first.model),
    keyId: call.key.id,
    owner: known(call.key.owner),
    userLabel: known(labels.userLabel),
    teams: known(call.key.teams),
    costCenter: known(call.key.costCenter),
    session: known(labels.session),
    agentSession: known(labels.agentSession),
    parentSession: known(labels.parentSession),
    client: labels.client,
    tags: labels.tags,
    agentId: known(labels.agentId),
    parentAgentId: known(labels.parentAgentId),
    usageSource: "none",
    unpriced: true,
    partial: true,
  };
}

/** Text from a provider, dropped if Postgres would reject it: it must not make the whole record fail. */
const label = (text: string | null | undefined): string | undefined => known(parseLabel(text, MODEL_MAX));

/** Makes the compiler reject a record that lacks a count. */
type Counted = { [count in keyof Usage]: number | undefined };

/** The final record of a call. A single literal, because an object that grows is slow to build and serialise. */
export function closeEntry(entry: RequestRow, facts: Facts, latencyMs: number): RequestRow & Counted {
  const { target, reading, priced, ttftMs } = facts;
  const usage = reading?.usage ?? NO_USAGE;
  return {
    ...entry,
    state: facts.state,
    status: known(facts.status),
    errorType: known(facts.errorType),
    errorCause: known(facts.errorCause),
    attempts: facts.attempts,
    provider: target?.provider.name ?? entry.provider,
    model: target?.model ?? entry.model,
    responseModel: label(reading?.responseModel),
    modelMismatch: facts.modelMismatch || undefined,
    serviceTier: label(reading?.serviceTier),
    providerRequestId: label(facts.providerRequestId),
    keptId: label(reading?.keptId),
    keptIds: reading?.keptIds?.slice(0, KEPT_IDS_MAX).map(keptIdHash),
    latencyMs: Math.round(latencyMs),
    ttftMs: ttftMs === null ? undefined : Math.round(ttftMs),
    usageSource: reading?.usageSource ?? "none",
    uncachedInputTokens: known(usage.uncachedInputTokens),
    cacheReadTokens: known(usage.cacheReadTokens),
    cacheWrite5mTokens: known(usage.cacheWrite5mTokens),
    cacheWrite1hTokens: known(usage.cacheWrite1hTokens),
    outputTokens: known(usage.outputTokens),
    reasoningTokens: known(usage.reasoningTokens),
    audioInputTokens: known(usage.audioInputTokens),
    audioOutputTokens: known(usage.audioOutputTokens),
    images: known(usage.images),
    characters: known(usage.characters),
    documents: known(usage.documents),
    searchUnits: known(usage.searchUnits),
    webSearches: known(usage.webSearches),
    droppedMembers: known(facts.droppedMembers),
    imageInputTokens: known(usage.imageInputTokens),
    imageOutputTokens: known(usage.imageOutputTokens),
    searchSources: known(usage.searchSources),
    cacheReadAudioTokens: known(usage.cacheReadAudioTokens),
    fileSearches: known(usage.fileSearches),
    variant: label(reading?.variant),
    inputTokens: known(inputTokens(usage)),
    costUsd: known(priced.costUsd),
    tokenCostUsd: known(priced.tokenCostUsd),
    costBasis: priced.basis,
    listCostUsd: known(priced.listCostUsd),
    pending: reading?.pending,
    price: priced.price ? priceText(priced.price) : undefined,
    unpriced: priced.costUsd === null,
    partial: reading?.usageSource === "partial" || priced.atLeast === true,
  };
}
