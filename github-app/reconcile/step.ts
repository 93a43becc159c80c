import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { listedPullRequest, listedReview, type RepositoryAccess } from "../facts/listed-facts.ts";
import type { Github } from "../github/octokit.ts";
import { emptyBatch, writeFacts } from "../stores/fact-batch.ts";
import { type DuePass, type Pass, savePass } from "../stores/pass-store.ts";

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
  const batch = emptyBatch();
  if (pass.phase === "pulls") {
    for (const item of page.items) {
      const facts = listedPullRequest(due.repository, item, page.readAt);
      if (facts) batch.pullRequests.push({ deliveryId: null, facts });
    }
  } else {
    const lists = page.items.map((item) => readReviews(deps, due.repository, { item, readAt: page.readAt }));
    batch.reviews.push(...(await Promise.all(lists)).flat());
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

function started(pass: Pass, now: Date): Pass {
  const stopAt =
    pass.watermark === null ? pass.stopAt : new Date(Date.parse(pass.watermark) - OVERLAP_MS).toISOString();
  return {
    ...pass,
    phase: "pulls",
    page: 1,
    stopAt,
    reachAt: null,
    startedAt: now.toISOString(),
    finishedAt: null,
    pulls: 0,
    reviews: 0,
  };
}

type Item = { number: number; merged_at: string | null; updated_at: string };
type Page = { items: Item[]; last: boolean; latest: string | null; readAt: Date; callsLeft: number };

async function readPage({ github }: StepDeps, repository: RepositoryAccess, pass: Pass): Promise<Page> {
  const [owner = "", repo = ""] = repository.fullName.split("/");
  const { data, headers } = await github(repository.installationId).rest.pulls.list({
    owner,
    repo,
    state: "all",
    sort: "updated",
    direction: "desc",
    per_page: PAGE,
    page: pass.page,
  });
  const { stopAt } = pass;
  const items = data.filter(
    ({ updated_at }) => stopAt === null || Date.parse(updated_at) >= Date.parse(stopAt),
  );
  const limit = Number(headers["x-ratelimit-limit"] ?? 0);
  return {
    items,
    last: items.length < PAGE,
    latest: data[0]?.updated_at ?? null,
    // By GitHub's clock, which also sets `updated_at`.
    readAt: new Date(headers.date ?? 0),
    callsLeft: limit > 0 ? Number(headers["x-ratelimit-remaining"]) / limit : 1,
  };
}

async function readReviews(
  { github }: StepDeps,
  repository: RepositoryAccess,
  { item, readAt }: { item: Item; readAt: Date },
) {
  const [owner = "", repo = ""] = repository.fullName.split("/");
  const octokit = github(repository.installationId);
  const found = await octokit.paginate(octokit.rest.pulls.listReviews, {
    owner,
    repo,
    pull_number: item.number,
    per_page: PAGE,
  });
  return found.flatMap((review) => listedReview({ repository, pullRequest: item, readAt }, review) ?? []);
}

function passAfter(pass: Pass, page: Page, { now, passMs }: { now: Date; passMs: number }): Pass {
  const isFirst = pass.phase === "pulls" && pass.page === 1;
  const reachAt = isFirst ? (page.latest ?? pass.watermark) : pass.reachAt;
  if (!page.last) return { ...pass, reachAt, page: pass.page + 1 };
  if (pass.phase === "pulls") return { ...pass, reachAt, phase: "reviews", page: 1 };
  return {
    ...pass,
    reachAt,
    phase: "idle",
    page: 1,
    watermark: reachAt,
    finishedAt: now.toISOString(),
    dueAt: new Date(now.getTime() + passMs).toISOString(),
  };
}
