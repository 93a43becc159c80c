import { type Static, Type } from "@sinclair/typebox";
import { PULL_REQUEST_KINDS } from "#drizzle/schema/github.ts";
import { closed, nullable, oneOf } from "#shared/schema.ts";

/**
 * The stored facts of a delivery: ids, names, numbers, flags, times, the session ids in a body and the body's digest.
 * No member can contain a title, a body or a comment. All times are RFC 3339 in UTC with milliseconds, so they compare
 * as text. `installation` keeps the payload's own form, because Probot reads it.
 */
const Id = Type.Integer({ minimum: 1 });
const Count = Type.Integer({ minimum: 0 });
const Installation = nullable(closed({ id: Id }));

/** A repository as one delivery or list showed it. */
export const Sighting = closed({
  id: Id,
  fullName: Type.String(),
  formerNames: Type.Array(Type.String()),
  installationId: nullable(Id),
  covered: Type.Boolean(),
  /** Null: not reported. */
  isPrivate: nullable(Type.Boolean()),
  at: Type.String(),
});
export type Sighting = Static<typeof Sighting>;

/** A start or end of coverage of a repository; `repositoryId` 0: of all repositories of the installation. */
const CoverageChange = closed({
  installationId: Id,
  repositoryId: Type.Integer({ minimum: 0 }),
  kind: oneOf(["added", "removed", "suspended", "unsuspended", "uninstalled"]),
  at: Type.String(),
});
export type CoverageChange = Static<typeof CoverageChange>;

const coverage = Type.Optional(Type.Array(CoverageChange));

/** Facts of a body. `edited`: the event changed it, so it wins against another of the same second. */
const bodyFacts = {
  at: Type.String(),
  edited: Type.Boolean(),
  sessionIds: Type.Array(Type.String()),
  diagnostics: Type.Array(Type.String()),
};

export const PullRequestFacts = closed({
  action: Type.String(),
  installation: Installation,
  sightings: Type.Array(Sighting),
  repositoryId: Id,
  number: Id,
  open: Type.Boolean(),
  /** Null: not known. */
  openedAt: nullable(Type.String()),
  merged: nullable(closed({ at: Type.String(), sha: nullable(Type.String()) })),
  editedAfterMerge: Type.Boolean(),
  authorLogin: nullable(Type.String()),
  authorIsBot: Type.Boolean(),
  authorAssociation: nullable(Type.String()),
  fromFork: nullable(Type.Boolean()),
  /** Missing from deliveries that an earlier version stored. */
  headBranch: Type.Optional(nullable(Type.String())),
  headRepository: Type.Optional(nullable(Type.String())),
  baseBranch: Type.Optional(nullable(Type.String())),
  kind: Type.Optional(nullable(oneOf(PULL_REQUEST_KINDS))),
  size: Type.Optional(nullable(closed({ additions: Count, deletions: Count, changedFiles: Count }))),
  revertsByBranch: nullable(Id),
  body: closed({
    ...bodyFacts,
    sha256: Type.String(),
    revertsByBody: Type.Array(closed({ repository: nullable(Type.String()), number: Id })),
    revertsBySha: Type.Array(Type.String()),
  }),
});
export type PullRequestFacts = Static<typeof PullRequestFacts>;

export const ReviewFacts = closed({
  action: Type.String(),
  installation: Installation,
  sightings: Type.Array(Sighting),
  repositoryId: Id,
  number: Id,
  id: Id,
  reviewerLogin: nullable(Type.String()),
  submittedAt: Type.String(),
  dismissed: Type.Boolean(),
  body: closed(bodyFacts),
});
export type ReviewFacts = Static<typeof ReviewFacts>;

export const InstallationFacts = closed({
  action: Type.String(),
  installation: closed({ id: Id }),
  sightings: Type.Array(Sighting),
  coverage,
  accountLogin: Type.String(),
  accountId: Id,
  state: oneOf(["active", "suspended", "removed"]),
  permissions: nullable(Type.Record(Type.String(), Type.String())),
  at: Type.String(),
});
export type InstallationFacts = Static<typeof InstallationFacts>;

const RepositoryFacts = closed({
  action: Type.String(),
  installation: Installation,
  sightings: Type.Array(Sighting),
  coverage,
});

/** The relevant events, and the facts stored for each. */
export const FACTS = {
  pull_request: PullRequestFacts,
  pull_request_review: ReviewFacts,
  installation: InstallationFacts,
  installation_repositories: RepositoryFacts,
  repository: RepositoryFacts,
} as const;

export type EventName = keyof typeof FACTS;
export type FactsOf<Name extends EventName> = Static<(typeof FACTS)[Name]>;

export const isEventName = (name: string): name is EventName => Object.hasOwn(FACTS, name);
