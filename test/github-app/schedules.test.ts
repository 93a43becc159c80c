import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { insertRequest, outcomeTables, testGithubApp } from "#test/support/github-app.ts";
import {
  installationPayload,
  type Payload,
  pullRequestPayload,
  renamePayload,
  reviewPayload,
} from "#test/support/github-payloads.ts";

let running: Awaited<ReturnType<typeof testGithubApp>>;
beforeAll(async () => {
  running = await testGithubApp();
  await insertRequest(running.database, "s1", "2026-11-01T08:00:00Z");
});
afterAll(() => running.close());

const old = { id: 900, fullName: "octo/old" };
const renamed = { id: 900, fullName: "octo/new" };
const day = (n: number) => `2026-11-0${n}T10:00:00Z`;
const merged = { action: "closed", mergedAt: day(4), at: day(4) } as const;

/** Two pull requests, one of which reverts the other, with reviews, edits, a rename and a removal. */
const STORY: [event: string, payload: Payload][] = [
  ["installation", installationPayload({ action: "created", id: 1, repositories: [old] })],
  ["pull_request", pullRequestPayload({ repository: old, body: "text", at: day(1) })],
  // Within the same second as the opening.
  [
    "pull_request",
    pullRequestPayload({
      repository: old,
      action: "edited",
      formerBody: "text",
      body: "Gateway-Session: s1",
      at: day(1),
    }),
  ],
  [
    "pull_request_review",
    reviewPayload({ repository: old, body: "Gateway-Session: s1", submittedAt: day(2) }),
  ],
  [
    "pull_request_review",
    reviewPayload({
      repository: old,
      action: "edited",
      formerBody: "x",
      submittedAt: day(2),
      updatedAt: day(2),
    }),
  ],
  ["repository", renamePayload({ repository: renamed, formerName: "old", at: day(3) })],
  ["pull_request", pullRequestPayload({ repository: renamed, ...merged, body: "Gateway-Session: s1" })],
  [
    "pull_request",
    pullRequestPayload({
      repository: renamed,
      action: "edited",
      mergedAt: day(4),
      at: day(5),
      formerBody: "x",
      body: "Gateway-Session: s2",
    }),
  ],
  [
    "pull_request",
    pullRequestPayload({ repository: renamed, number: 3, headRef: "revert-2-changes", at: day(6) }),
  ],
  [
    "pull_request",
    pullRequestPayload({
      repository: renamed,
      ...merged,
      number: 3,
      at: day(7),
      mergedAt: day(7),
      headRef: "revert-2-changes",
      body: "Reverts octo/new#2\n\nGateway-Session: s1",
    }),
  ],
  [
    "pull_request_review",
    reviewPayload({ repository: renamed, action: "dismissed", submittedAt: day(2), updatedAt: day(7) }),
  ],
  ["installation", installationPayload({ action: "deleted", id: 1 })],
];

type Step = { index: number; after: "go on" | "wait" | "forget" };

async function play(steps: readonly Step[]) {
  const { sql } = running.database;
  await sql`truncate webhook_inbox, pull_requests, reviews, repositories, installations`;
  for (const { index, after } of steps) {
    const [event, payload] = STORY[index] ?? ["", {}];
    const answer = await running.deliver(event, payload, { deliveryId: `delivery-${index}` });
    expect(answer.status).toBe(202);
    if (after !== "go on") await running.applied();
    // A repetition after the inbox has forgotten the delivery is applied once more.
    if (after === "forget") await sql`delete from webhook_inbox`;
  }
  await running.applied();
  return outcomeTables(running.database);
}

test("any order, any repetition and any loss with later delivery ends in the same tables", async () => {
  const inOrder = await play(STORY.map((_, index) => ({ index, after: "wait" })));
  expect(inOrder.pullRequests).toMatchObject([
    { number: 2, link: "unknown_session", session: "s2", edited_after_merge: true },
    { number: 3, link: "joined", session: "s1", reverts_by_branch: 2 },
  ]);
  expect(inOrder.reviews).toMatchObject([{ session: null, dismissed: true }]);
  expect(inOrder.repositories).toMatchObject([
    { full_name: "octo/new", former_names: ["octo/old"], covered: false },
  ]);

  const indices = STORY.map((_, index) => index);
  const after = fc.constantFrom<Step["after"]>("go on", "go on", "wait", "forget");
  const schedule = fc
    .tuple(fc.shuffledSubarray(indices, { minLength: indices.length }), fc.shuffledSubarray(indices))
    .chain(([all, again]) => {
      const order = [...again, ...all];
      return fc
        .tuple(
          fc.shuffledSubarray(
            order.map((_, at) => at),
            { minLength: order.length },
          ),
          fc.array(after, { minLength: order.length, maxLength: order.length }),
        )
        .map(([places, afters]) =>
          places.map((at, n): Step => ({ index: order[at] ?? 0, after: afters[n] ?? "wait" })),
        );
    });
  await fc.assert(
    fc.asyncProperty(schedule, async (steps) => {
      expect(await play(steps)).toEqual(inOrder);
    }),
    { numRuns: 10 },
  );
});
