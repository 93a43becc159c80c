import { pullRequestPayload, reviewPayload, signatureOf } from "#test/support/github-payloads.ts";
import { DemoFault, type Pair } from "./pair.ts";
import type { Merge } from "./story.ts";

export type Repository = { id: number; fullName: string };
type Target = Pick<Pair, "githubAppUrl" | "webhookSecret">;
/** A merge of the story with this run's names. */
export type Merged = Pick<Merge, "number"> & { repository: Repository; sessions: readonly string[] };

/** Tells the App of a pull request that was opened, reviewed by an agent of its first session, and merged just now. */
export async function deliverMerge(target: Target, merged: Merged): Promise<void> {
  const { repository, number, sessions } = merged;
  const minutesAgo = (minutes: number) =>
    `${new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 19)}Z`;
  const body = ["Makes it better.", "", ...sessions.map((it) => `Gateway-Session: ${it}`)].join("\n");
  const common = { repository, number, body, openedAt: minutesAgo(30) };
  const mergedAt = minutesAgo(1);
  await deliver(
    target,
    "pull_request",
    pullRequestPayload({ ...common, action: "opened", at: minutesAgo(30) }),
  );
  if (sessions.length === 1) {
    const review = { repository, number, submittedAt: minutesAgo(10), id: repository.id * 10 + number };
    await deliver(
      target,
      "pull_request_review",
      reviewPayload({ ...review, body: `Gateway-Session: ${sessions[0]}` }),
    );
  }
  await deliver(
    target,
    "pull_request",
    pullRequestPayload({ ...common, action: "closed", at: mergedAt, mergedAt }),
  );
}

async function deliver(
  { githubAppUrl, webhookSecret }: Target,
  event: string,
  payload: object,
): Promise<void> {
  const body = JSON.stringify(payload);
  const answer = await fetch(`${githubAppUrl}/api/github/webhooks`, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": crypto.randomUUID(),
      "x-hub-signature-256": signatureOf(body, webhookSecret),
    },
  });
  if (answer.status === 202) return;
  const reasons: Record<number, string> = {
    401: "WEBHOOK_SECRET is not the one that it was started with.",
    404: "it was started without a WEBHOOK_SECRET, or with another WEBHOOK_PATH.",
  };
  throw new DemoFault(
    `The GitHub App refused a webhook with ${answer.status}: ${reasons[answer.status] ?? (await answer.text())}`,
  );
}
