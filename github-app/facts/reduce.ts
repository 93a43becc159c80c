import type { Static, TSchema } from "@sinclair/typebox";
import { fits } from "#shared/schema.ts";
import { coverageFacts, installationFacts, repositoryFacts } from "./coverage-facts.ts";
import { type EventName, type FactsOf, isEventName } from "./facts.ts";
import {
  InstallationPayload,
  InstallationRepositoriesPayload,
  PullRequestPayload,
  RepositoryPayload,
  ReviewPayload,
} from "./payloads.ts";
import { pullRequestFacts, reviewFacts } from "./pull-request-facts.ts";
import { checkedTime } from "./sighting.ts";

/** The relevant actions; GitHub adds events and actions at any time, and unknown ones are ignored. */
const ACTIONS = {
  pull_request: [
    "opened",
    "edited",
    "closed",
    "reopened",
    "synchronize",
    "ready_for_review",
    "converted_to_draft",
  ],
  pull_request_review: ["submitted", "edited", "dismissed"],
  installation: ["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"],
  installation_repositories: ["added", "removed"],
  repository: ["renamed", "transferred", "privatized", "publicized"],
} as const satisfies Record<EventName, readonly string[]>;

export type ReducedDelivery = {
  [Name in EventName]: {
    kind: "facts";
    event: Name;
    action: string;
    occurredAt: string;
    facts: FactsOf<Name>;
  };
}[EventName];

/** The result of reducing a delivery. `malformed`: a relevant event lacks a required member. */
export type Reduction = { kind: "ignored" } | { kind: "malformed" } | ReducedDelivery;

const IGNORED = { kind: "ignored" } as const;
const MALFORMED = { kind: "malformed" } as const;

/**
 * The facts of a verified delivery (facts.ts), without any text of it. `receivedAt` is used only for events without a
 * time of their own, such as the repositories added to or removed from an installation.
 */
export function reduce(event: string, payload: unknown, receivedAt: Date): Reduction {
  const action = actionOf(payload);
  if (!isEventName(event) || action === null) return IGNORED;
  const known: readonly string[] = ACTIONS[event];
  if (!known.includes(action)) return IGNORED;
  const read = READERS[event](payload, receivedAt);
  // READERS has, for each event, the reader of its facts.
  return read ? ({ kind: "facts", event, action, ...read } as ReducedDelivery) : MALFORMED;
}

function actionOf(payload: unknown): string | null {
  const action =
    typeof payload === "object" && payload !== null && "action" in payload ? payload.action : null;
  return typeof action === "string" ? action : null;
}

type Read = { occurredAt: string; facts: ReducedDelivery["facts"] };
type Reader = (payload: unknown, receivedAt: Date) => Read | null;

const reader =
  <T extends TSchema>(schema: T, read: (payload: Static<T>, receivedAt: Date) => Read): Reader =>
  (payload, receivedAt) =>
    fits(schema, payload) ? read(payload, receivedAt) : null;

const READERS: Record<EventName, Reader> = {
  pull_request: reader(PullRequestPayload, (payload) => {
    const facts = pullRequestFacts(payload);
    return { occurredAt: facts.body.at, facts };
  }),
  pull_request_review: reader(ReviewPayload, (payload) => {
    const facts = reviewFacts(payload);
    return { occurredAt: facts.body.at, facts };
  }),
  installation: reader(InstallationPayload, (payload, receivedAt) => {
    const facts = installationFacts(payload, receivedAt);
    return { occurredAt: facts.at, facts };
  }),
  installation_repositories: reader(InstallationRepositoriesPayload, (payload, receivedAt) => ({
    occurredAt: receivedAt.toISOString(),
    facts: coverageFacts(payload, receivedAt),
  })),
  repository: reader(RepositoryPayload, (payload) => ({
    occurredAt: checkedTime(payload.repository.updated_at),
    facts: repositoryFacts(payload),
  })),
};
