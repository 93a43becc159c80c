import { generateKeyPairSync } from "node:crypto";

/** What the stand-in for GitHub knows. Times are GitHub's: whole seconds, RFC 3339. */
export type Account = { id: number; login: string; type: "User" | "Bot" | "Organization" };

export const personAccount = (login: string): Account => ({ id: 9, login, type: "User" });

export type Repository = {
  id: number;
  fullName: string;
  private: boolean;
  createdAt: string;
  updatedAt: string;
  /** Shared by issues and pull requests. */
  lastNumber: number;
};

export type Commit = { sha: string; message: string };

export type PullRequest = {
  id: number;
  repository: Repository;
  number: number;
  title: string;
  body: string | null;
  user: Account | null;
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  mergedAt: string | null;
  /** Set before any merge too, as GitHub does. */
  mergeCommitSha: string;
  headRef: string;
  headSha: string;
  /** The fork that it comes from; null: a branch of the repository; `deleted`: the fork is gone. */
  headRepository: Repository | "deleted" | null;
  authorAssociation: string;
  /** The conversation is locked: nobody may comment. */
  locked: boolean;
  baseRef: string;
  commits: Commit[];
  reviews: Review[];
};

export type Review = {
  id: number;
  user: Account | null;
  body: string;
  state: "COMMENTED" | "APPROVED" | "CHANGES_REQUESTED" | "DISMISSED";
  submittedAt: string;
  updatedAt: string;
};

export type Issue = {
  id: number;
  repository: Repository;
  number: number;
  title: string;
  body: string;
  state: "open" | "closed";
  labels: string[];
  createdAt: string;
  updatedAt: string;
};

export type Comment = {
  id: number;
  repository: Repository;
  number: number;
  body: string;
  /** Null: the App. */
  author: Account | null;
  createdAt: string;
  updatedAt: string;
};

export type CheckRun = {
  id: number;
  repository: Repository;
  headSha: string;
  name: string;
  externalId: string | null;
  status: string;
  conclusion: string | null;
  detailsUrl: string | null;
  output: { title: string | null; summary: string | null; text: string | null };
  startedAt: string;
  completedAt: string | null;
};

export type Installation = {
  id: number;
  account: Account;
  repositories: Repository[];
  permissions: Record<string, string>;
  createdAt: string;
  updatedAt: string;
  suspendedAt: string | null;
  removed: boolean;
};

export type Registration = {
  id: number;
  slug: string;
  name: string;
  clientId: string;
  clientSecret: string;
  webhookSecret: string;
  /** PEM, PKCS#1, as GitHub hands it out. */
  privateKey: string;
  publicKey: string;
  permissions: Record<string, string>;
  events: string[];
  hookUrl: string | null;
};

export type World = {
  app: Registration;
  installations: Installation[];
  repositories: Map<number, Repository>;
  /** By `<repository id>#<number>`. */
  pullRequests: Map<string, PullRequest>;
  issues: Map<string, Issue>;
  comments: Comment[];
  checkRuns: CheckRun[];
  /** A number that nothing has yet. */
  newId(): number;
  /** The present second. */
  now(): string;
};

export const LEAST_PERMISSIONS = { metadata: "read", pull_requests: "read" };
const LEAST_EVENTS = ["pull_request", "pull_request_review", "repository"];

const newKeys = () => generateKeyPairSync("rsa", { modulusLength: 2048 });
/** One pair for the first App of every world: making one takes a tenth of a second and more. */
let firstKeys: ReturnType<typeof newKeys> | null = null;

export function newRegistration(
  values: Partial<Registration> & { id: number; name: string },
  keys = newKeys(),
): Registration {
  return {
    slug: values.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
    clientId: `Iv23.${values.id}`,
    clientSecret: crypto.randomUUID(),
    webhookSecret: crypto.randomUUID(),
    privateKey: keys.privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
    publicKey: keys.publicKey.export({ type: "spki", format: "pem" }).toString(),
    permissions: LEAST_PERMISSIONS,
    events: LEAST_EVENTS,
    hookUrl: null,
    ...values,
  };
}

export function newWorld(now: () => Date): World {
  let lastId = 1000;
  firstKeys ??= newKeys();
  return {
    app: newRegistration({ id: 7, name: "Tallygate test" }, firstKeys),
    installations: [],
    repositories: new Map(),
    pullRequests: new Map(),
    issues: new Map(),
    comments: [],
    checkRuns: [],
    newId: () => ++lastId,
    now: () => seconds(now()),
  };
}

export const seconds = (at: Date): string => at.toISOString().replace(/\.\d{3}Z$/, "Z");

export const keyOf = (repository: { id: number }, number: number): string => `${repository.id}#${number}`;

/** The sha of a commit, made of what it is to be the same in every run. */
export const shaOf = (text: string): string => new Bun.CryptoHasher("sha1").update(text).digest("hex");
