import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { listedPullRequest, listedReview, type RepositoryAccess } from "../facts/listed-facts.ts";
import { GraphqlFailure } from "../github/graphql.ts";
import type { Github } from "../github/octokit.ts";
import { statusOf } from "../github/wait.ts";
import { emptyBatch, writeFacts } from "../stores/fact-batch.ts";
import { type DuePass, type Pass, savePass } from "../stores/pass-store.ts";
import { isUnknownField, listReviews } from "./review-lists.ts";

export type StepDeps = {
  database: Database;
  clock: Clock;
  /** GitHub as an installation sees it. */
  github: (installationId: number) => Github;
  /** From the end of a pass to the next one. */
  passMs: number;
};

/** The result of one page. `callsLeft`: the share of this installation's calls that GitHub still accepts. */
export type StepResult = { pass: Pass; pulls: number; reviews: number; finished: boolean; callsLeft: number };

const PAGE = 100;
/** Changes up to this long before the watermark are read again: lists may lag behind deliveries. */
const OVERLAP_MS = 10 * 60_000;

/**
 * Reads one page of a repository's pull requests, or of their reviews, and writes it together with the progress of the
 * pass: a process that dies has done a page or not. Pages go from the latest change backwards; what changes meanwhile
 * moves to the front, so a page may repeat an item, but never omits one.
 * @throws Octokit's errors; see `waitMsOf`.
 */
export async function step(deps: StepDeps, due: DuePass): Promise<StepResult> {
  const { database, clock } = deps;
  const pass = due.pass.phase === "idle" ? started(due.pass, clock.now()) : due.pass;
  const page = await readPage(deps, due.repository, pass);
  if (page === "unchanged") return unchanged(deps, pass);
  const batch = emptyBatch();
  if (pass.phase === "pulls") {
    for (const item of page.items) {
      const facts = listedPullRequest(due.repository, item, page.readAt);
      if (facts) batch.pullRequests.push({ deliveryId: null, facts });
    }
  } else {
    batch.reviews.push(...(await readReviews(deps, due.repository, page)));
  }
  const read = { pulls: batch.pullRequests.length, reviews: batch.reviews.length };
  const after = passAfter(
    { ...pass, pulls: pass.pulls + read.pulls, reviews: pass.reviews + read.reviews, failure: null },
    page,
    { now: clock.now(), passMs: deps.passMs },
  );
  await database.db.transaction(async (tx) => {
    await writeFacts(tx, batch);
    await savePass(tx, after);
  });
  return { ...read, pass: after, finished: after.phase === "idle", callsLeft: page.callsLeft };
}

/** Nothing changed since the last pass, so this one is done. */
async function unchanged({ database, clock, passMs }: StepDeps, pass: Pass): Promise<StepResult> {
  const after = finished({ ...pass, failure: null }, { now: clock.now(), passMs });
  await savePass(database.db, after);
  return { pass: after, pulls: 0, reviews: 0, finished: true, callsLeft: 1 };
}

function started(pass: Pass, now: Date): Pass {
  const stopAt =
    pass.watermark === null ? pass.stopAt : new Date(Date.parse(pass.watermark) - OVERLAP_MS).toISOString();
  return {
    ...pass,
    phase: "pulls",
    page: 1,
    stopAt,
    reachAt: null,
    pulls: 0,
    reviews: 0,
    startedAt: now.toISOString(),
    finishedAt: null,
  };
}

type Item = { number: number; merged_at: string | null; updated_at: string };
type Page = {
  items: Item[];
  last: boolean;
  latest: string | null;
  etag: string | null;
  readAt: Date;
  callsLeft: number;
};

/** GitHub does not count an answer that nothing changed. */
async function readPage({ github }: StepDeps, repository: RepositoryAccess, pass: Pass) {
  const isKnown = isFirst(pass) && pass.etag !== null && pass.watermark !== null;
  const answer = await github(repository.installationId)
    .rest.pulls.list({
      ...placeOf(repository),
      state: "all",
      sort: "updated",
      direction: "desc",
      per_page: PAGE,
      page: pass.page,
      headers: isKnown && pass.etag !== null ? { "if-none-match": pass.etag } : {},
    })
    .catch((error: unknown) => {
      if (statusOf(error) !== 304) throw error;
      return null;
    });
  if (answer === null) return "unchanged";
  const { data, headers } = answer;
  const { stopAt } = pass;
  const items = data.filter(
    ({ updated_at }) => stopAt === null || Date.parse(updated_at) >= Date.parse(stopAt),
  );
  const limit = Number(headers["x-ratelimit-limit"] ?? 0);
  return {
    items,
    last: items.length < PAGE,
    latest: data[0]?.updated_at ?? null,
    etag: headers.etag ?? null,
    // By GitHub's clock, which also sets `updated_at`.
    readAt: new Date(headers.date ?? 0),
    callsLeft: limit > 0 ? Number(headers["x-ratelimit-remaining"]) / limit : 1,
  };
}

async function readReviews({ github }: StepDeps, repository: RepositoryAccess, { items, readAt }: Page) {
  const octokit = github(repository.installationId);
  const numbers = items.map(({ number }) => number);
  const lists = await listReviews(octokit, placeOf(repository), numbers).catch((error: unknown) => {
    if (!(error instanceof GraphqlFailure && isUnknownField(error))) throw error;
    return readOneByOne(octokit, repository, numbers);
  });
  return items.flatMap((pullRequest) =>
    (lists.get(pullRequest.number) ?? []).flatMap(
      (review) => listedReview({ repository, pullRequest, readAt }, review) ?? [],
    ),
  );
}

async function readOneByOne(octokit: Github, repository: RepositoryAccess, numbers: readonly number[]) {
  const lists = numbers.map(async (number): Promise<[number, object[]]> => {
    const of = { ...placeOf(repository), pull_number: number, per_page: PAGE };
    return [number, await octokit.paginate(octokit.rest.pulls.listReviews, of)];
  });
  return new Map(await Promise.all(lists));
}

function placeOf({ fullName }: RepositoryAccess): { owner: string; repo: string } {
  const [owner = "", repo = ""] = fullName.split("/");
  return { owner, repo };
}

const isFirst = ({ phase, page }: Pass): boolean => phase === "pulls" && page === 1;

function passAfter(pass: Pass, page: Page, { now, passMs }: { now: Date; passMs: number }): Pass {
  const known = isFirst(pass) ? { ...pass, reachAt: page.latest ?? pass.watermark, etag: page.etag } : pass;
  if (!page.last) return { ...known, page: pass.page + 1 };
  if (pass.phase === "pulls") return { ...known, phase: "reviews", page: 1 };
  return finished({ ...known, watermark: known.reachAt }, { now, passMs });
}

const finished = (pass: Pass, { now, passMs }: { now: Date; passMs: number }): Pass => ({
  ...pass,
  phase: "idle",
  page: 1,
  finishedAt: now.toISOString(),
  dueAt: new Date(now.getTime() + passMs).toISOString(),
});
