import type { Static } from "@sinclair/typebox";
import { fits } from "#shared/schema.ts";
import { readSessionLine } from "#shared/session-line.ts";
import { type CoverageChange, type EventName, type FactsOf, isEventName, type Sighting } from "./facts.ts";
import {
  InstallationPayload,
  InstallationRepositoriesPayload,
  instantOf,
  PullRequestPayload,
  RepositoryPayload,
  ReviewPayload,
  type Time,
} from "./payloads.ts";
import { readRevertBranch, readRevertClaims } from "./revert.ts";

/** The actions that say something; GitHub adds events and actions at any time, and unknown ones are ignored. */
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
  repository: ["renamed", "transferred"],
} as const satisfies Record<EventName, readonly string[]>;

/** Session ids kept of one body: two are a conflict, more say no more. */
const SESSION_IDS_MAX = 10;

export type ReducedDelivery = {
  [Name in EventName]: {
    kind: "facts";
    event: Name;
    action: string;
    occurredAt: string;
    facts: FactsOf<Name>;
  };
}[EventName];

/** What a delivery comes down to. `malformed`: an event that counts here lacks a member that it must have. */
export type Reduction = { kind: "ignored" } | { kind: "malformed" } | ReducedDelivery;

const IGNORED = { kind: "ignored" } as const;
const MALFORMED = { kind: "malformed" } as const;

/**
 * The facts of a verified delivery (facts.ts), without any text of it. `receivedAt` is used only for events in which
 * GitHub sends no time of their own: the repositories added to or removed from an installation.
 */
export function reduce(event: string, payload: unknown, receivedAt: Date): Reduction {
  const action = actionOf(payload);
  if (!isEventName(event) || action === null) return IGNORED;
  const known: readonly string[] = ACTIONS[event];
  return known.includes(action) ? READERS[event](payload, receivedAt) : IGNORED;
}

function actionOf(payload: unknown): string | null {
  const action =
    typeof payload === "object" && payload !== null && "action" in payload ? payload.action : null;
  return typeof action === "string" ? action : null;
}

const READERS: Record<EventName, (payload: unknown, receivedAt: Date) => Reduction> = {
  pull_request: (payload) => (fits(PullRequestPayload, payload) ? pullRequest(payload) : MALFORMED),
  pull_request_review: (payload) => (fits(ReviewPayload, payload) ? review(payload) : MALFORMED),
  installation: (payload, receivedAt) =>
    fits(InstallationPayload, payload) ? installation(payload, receivedAt) : MALFORMED,
  installation_repositories: (payload, receivedAt) =>
    fits(InstallationRepositoriesPayload, payload) ? coverage(payload, receivedAt) : MALFORMED,
  repository: (payload) => (fits(RepositoryPayload, payload) ? repository(payload) : MALFORMED),
};

// The schema has checked that it is a time.
const time = (value: Time): string => instantOf(value) ?? "";

function pullRequest(payload: Static<typeof PullRequestPayload>): Reduction {
  const { action, pull_request: it } = payload;
  const at = time(it.updated_at);
  const edited = action === "edited" && payload.changes?.body !== undefined;
  const claims = readRevertClaims(it.body);
  return {
    kind: "facts",
    event: "pull_request",
    action,
    occurredAt: at,
    facts: {
      action,
      installation: installed(payload),
      sightings: [sighting(payload, at)],
      repositoryId: payload.repository.id,
      number: it.number,
      open: it.state === "open",
      openedAt: time(it.created_at),
      // Never by `merge_commit_sha`: it is set on pull requests that were not merged, too.
      merged: it.merged
        ? { at: time(it.merged_at ?? it.updated_at), sha: parseSha(it.merge_commit_sha) }
        : null,
      editedAfterMerge: edited && it.merged === true,
      authorLogin: it.user?.login ?? null,
      authorIsBot: it.user?.type === "Bot",
      revertsByBranch: readRevertBranch(it.head.ref),
      body: {
        ...bodyFacts(it.body, at, edited),
        sha256: new Bun.CryptoHasher("sha256").update(it.body ?? "").digest("hex"),
        revertsByBody: claims.byBody,
        revertsBySha: claims.bySha,
      },
    },
  };
}

const parseSha = (text: string | null | undefined): string | null =>
  text && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : null;

function review(payload: Static<typeof ReviewPayload>): Reduction {
  const { action, review: it } = payload;
  const pullRequestAt = time(payload.pull_request.updated_at);
  const submittedAt = it.submitted_at === null ? pullRequestAt : time(it.submitted_at);
  const changedAt = it.updated_at ? time(it.updated_at) : pullRequestAt;
  const at = action === "submitted" || changedAt < submittedAt ? submittedAt : changedAt;
  return {
    kind: "facts",
    event: "pull_request_review",
    action,
    occurredAt: at,
    facts: {
      action,
      installation: installed(payload),
      sightings: [sighting(payload, at)],
      repositoryId: payload.repository.id,
      number: payload.pull_request.number,
      id: it.id,
      reviewerLogin: it.user?.login ?? null,
      submittedAt,
      dismissed: it.state.toLowerCase() === "dismissed",
      body: bodyFacts(it.body, at, action === "edited"),
    },
  };
}

function bodyFacts(body: string | null, at: string, edited: boolean) {
  const { ids, diagnostics } = readSessionLine(body);
  return {
    at,
    edited,
    sessionIds: ids.slice(0, SESSION_IDS_MAX) as string[],
    diagnostics: diagnostics as string[],
  };
}

function installation(payload: Static<typeof InstallationPayload>, receivedAt: Date): Reduction {
  const { action, installation: it } = payload;
  const at = time(it.updated_at);
  const seen = action === "created" ? (payload.repositories ?? []) : [];
  return {
    kind: "facts",
    event: "installation",
    action,
    occurredAt: at,
    facts: {
      action,
      installation: { id: it.id },
      sightings: seen.map((one) => ({
        id: one.id,
        fullName: one.full_name,
        formerNames: [],
        installationId: it.id,
        covered: true,
        at: time(it.created_at),
      })),
      coverage: installationCoverage(payload, receivedAt),
      accountLogin: it.account.login,
      accountId: it.account.id,
      state: action === "deleted" ? "removed" : it.suspended_at ? "suspended" : "active",
      at,
    },
  };
}

/** GitHub tells when an installation was made and when it was suspended; of its other changes, only that they happened. */
function installationCoverage(
  { action, installation: it, repositories = [] }: Static<typeof InstallationPayload>,
  receivedAt: Date,
): CoverageChange[] {
  const all = { installationId: it.id, repositoryId: 0 };
  const heardAt = receivedAt.toISOString();
  switch (action) {
    case "created":
      return repositories.map(({ id }) => ({
        installationId: it.id,
        repositoryId: id,
        kind: "added" as const,
        at: time(it.created_at),
      }));
    case "suspend":
      return [{ ...all, kind: "suspended", at: time(it.suspended_at ?? heardAt) }];
    case "unsuspend":
      return [{ ...all, kind: "unsuspended", at: heardAt }];
    case "deleted":
      return [{ ...all, kind: "uninstalled", at: heardAt }];
    default:
      return [];
  }
}

function coverage(payload: Static<typeof InstallationRepositoriesPayload>, receivedAt: Date): Reduction {
  const at = receivedAt.toISOString();
  const seen = (covered: boolean) => (one: { id: number; full_name: string }) => ({
    id: one.id,
    fullName: one.full_name,
    formerNames: [],
    installationId: payload.installation.id,
    covered,
    at,
  });
  const sightings = [
    ...payload.repositories_added.map(seen(true)),
    ...payload.repositories_removed.map(seen(false)),
  ];
  return {
    kind: "facts",
    event: "installation_repositories",
    action: payload.action,
    occurredAt: at,
    facts: {
      action: payload.action,
      installation: { id: payload.installation.id },
      sightings,
      coverage: sightings.map(({ id, covered }) => ({
        installationId: payload.installation.id,
        repositoryId: id,
        kind: covered ? "added" : "removed",
        at,
      })),
    },
  };
}

function repository(payload: Static<typeof RepositoryPayload>): Reduction {
  const at = time(payload.repository.updated_at);
  const [owner = "", name = ""] = payload.repository.full_name.split("/");
  const { changes } = payload;
  const formerOwner = (changes?.owner?.from.user ?? changes?.owner?.from.organization)?.login ?? owner;
  const former = `${formerOwner}/${changes?.repository?.name.from ?? name}`;
  return {
    kind: "facts",
    event: "repository",
    action: payload.action,
    occurredAt: at,
    facts: {
      action: payload.action,
      installation: installed(payload),
      sightings: [{ ...sighting(payload, at), formerNames: former === `${owner}/${name}` ? [] : [former] }],
    },
  };
}

type OfRepository = {
  installation?: { id: number } | null;
  repository: { id: number; full_name: string };
};

const installed = ({ installation }: OfRepository) => (installation ? { id: installation.id } : null);

/** An event of a repository shows that the App is installed there at that time, and under which name. */
const sighting = (payload: OfRepository, at: string): Sighting => ({
  id: payload.repository.id,
  fullName: payload.repository.full_name,
  formerNames: [],
  installationId: payload.installation?.id ?? null,
  covered: true,
  at,
});
