import { pageOf } from "#shared/admin/fields.ts";
import { PullRequestPage, PullRequestView } from "#shared/admin/records.ts";
import type { RepositoryName } from "../stamping/pull-request.ts";
import { type Api, expectShape } from "./api.ts";

export type PullRequestName = RepositoryName & { number: number };

/** How long to wait, in milliseconds, until the gateway knows the pull request, or its merge. */
export type Wait = { ms: number; until: "known" | "merged" };

const PAUSE_MS = 2_000;

/** What the gateway knows of a pull request, at the latest when the wait ends; null: nothing. @throws ApiError */
export async function awaitPullRequest(
  api: Api,
  name: PullRequestName,
  { ms, until }: Wait,
): Promise<PullRequestPage | null> {
  const end = performance.now() + ms;
  for (;;) {
    const page = await readPullRequest(api, name);
    const isThere = page !== null && (until === "known" || page.merged_at !== null);
    const left = end - performance.now();
    if (isThere || left <= 0) return page;
    await Bun.sleep(Math.min(PAUSE_MS, left));
  }
}

async function readPullRequest(
  api: Api,
  { owner, repository, number }: PullRequestName,
): Promise<PullRequestPage | null> {
  const query = new URLSearchParams({ repository: `${owner}/${repository}`, number: String(number) });
  const answer = await api.call("GET", `/admin/v1/pull-requests?${query}`);
  const [found] = expectShape(pageOf(PullRequestView), answer, "The pull requests").data;
  if (found === undefined) return null;
  const page = await api.call("GET", `/admin/v1/pull-requests/${found.id}`);
  return expectShape(PullRequestPage, page, "The pull request");
}
