import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { Github } from "../github/octokit.ts";
import { noAccounts, writeAccounts } from "../inbox/apply.ts";
import { type AskedRepository, askedPullRequest, askedReview } from "./asked.ts";
import { type DuePass, type Pass, savePass } from "./passes.ts";

export type StepDeps = {
  database: Database;
  clock: Clock;
  /** GitHub as an installation sees it. */
  github: (installationId: number) => Github;
  /** After a finished pass, the next one. */
  againMs: number;
};

/** What one page came to. `callsLeft`: what GitHub says it still takes of this installation's calls, as a share. */
export type StepResult = { pass: Pass; pulls: number; reviews: number; finished: boolean; callsLeft: number };

const PAGE = 100;
/** Changes so long before the watermark are asked for again: lists may lag behind deliveries. */
const OVERLAP_MS = 10 * 60_000;

/**
 * Reads one page of a repository's pull requests, or of their reviews, and writes what it says together with where the
 * pass stands: a process that dies has done a page or not. Pages go from the latest change backwards; what changes
 * meanwhile moves to the front, so a page may show something twice, but never leaves it out.
 * @throws Octokit's errors; see `waitMsOf`.
 */
export async function step(deps: StepDeps, due: DuePass): Promise<StepResult> {
  const { database, clock } = deps;
  const pass = due.pass.phase === "idle" ? begun(due.pass, clock.now()) : due.pass;
  const page = await readPage(deps, due.repository, pass);
  const accounts = noAccounts();
  if (pass.phase === "pulls") {
    for (const item of page.items) {
      const facts = askedPullRequest(due.repository, item, page.askedAt);
      if (facts) accounts.pullRequests.push({ deliveryId: null, facts });
    }
  } else {
    const github = deps.github(due.repository.installationId);
    const lists = page.items.map((item) => readReviews(github, due.repository, item, page.askedAt));
    accounts.reviews.push(...(await Promise.all(lists)).flat());
  }
  const after = passAfter(pass, page, {
    pulls: accounts.pullRequests.length,
    reviews: accounts.reviews.length,
    againAt: new Date(clock.now().getTime() + deps.againMs),
    now: clock.now(),
  });
  await database.db.transaction(async (tx) => {
    await writeAccounts(tx, accounts);
    await savePass(tx, after);
  });
  return {
    pass: after,
    pulls: accounts.pullRequests.length,
    reviews: accounts.reviews.length,
    finished: after.phase === "idle",
    callsLeft: page.callsLeft,
  };
}

function begun(pass: Pass, now: Date): Pass {
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
type Page = { items: Item[]; last: boolean; latest: string | null; askedAt: Date; callsLeft: number };

async function readPage({ github }: StepDeps, repository: AskedRepository, pass: Pass): Promise<Page> {
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
  const items: Item[] = data.filter(
    (item) => pass.stopAt === null || !isBefore(item.updated_at, pass.stopAt),
  );
  const limit = Number(headers["x-ratelimit-limit"] ?? 0);
  return {
    items,
    last: items.length < PAGE,
    latest: data[0]?.updated_at ?? null,
    // By GitHub's clock, to which its times belong.
    askedAt: new Date(headers.date ?? 0),
    callsLeft: limit > 0 ? Number(headers["x-ratelimit-remaining"]) / limit : 1,
  };
}

const isBefore = (a: string, b: string) => Date.parse(a) < Date.parse(b);

async function readReviews(github: Github, repository: AskedRepository, of: Item, askedAt: Date) {
  const [owner = "", repo = ""] = repository.fullName.split("/");
  const found = await github.paginate(github.rest.pulls.listReviews, {
    owner,
    repo,
    pull_number: of.number,
    per_page: PAGE,
  });
  return found.flatMap((item) => askedReview(repository, of, item, askedAt) ?? []);
}

function passAfter(
  pass: Pass,
  page: Page,
  now: { pulls: number; reviews: number; againAt: Date; now: Date },
): Pass {
  const first = pass.phase === "pulls" && pass.page === 1;
  const counted = {
    ...pass,
    reachAt: first ? (page.latest ?? pass.watermark) : pass.reachAt,
    pulls: pass.pulls + now.pulls,
    reviews: pass.reviews + now.reviews,
    failure: null,
  };
  if (!page.last) return { ...counted, page: pass.page + 1 };
  if (pass.phase === "pulls") return { ...counted, phase: "reviews", page: 1 };
  return {
    ...counted,
    phase: "idle",
    page: 1,
    watermark: counted.reachAt,
    finishedAt: now.now.toISOString(),
    dueAt: now.againAt.toISOString(),
  };
}
