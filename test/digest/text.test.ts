import { expect, test } from "bun:test";
import type { Digest, DigestFigures } from "#shared/digest.ts";
import { Digest as Form } from "#shared/digest.ts";
import { digestText, digestTitle } from "#shared/digest-text.ts";
import { fits } from "#shared/schema.ts";

const figures = (over: Partial<DigestFigures> = {}): DigestFigures => ({
  merged_prs: 4,
  joined_prs: 3,
  reverted_prs: 1,
  cost_usd: 12.5,
  cost_per_merged_pr: 3.125,
  reverted_cost_usd: 2,
  lower_bound: true,
  ...over,
});

const DIGEST: Digest = {
  period: { from: "2026-11-16T00:00:00.000Z", to: "2026-11-23T00:00:00.000Z" },
  previous_period: { from: "2026-11-09T00:00:00.000Z", to: "2026-11-16T00:00:00.000Z" },
  total: {
    current: figures(),
    previous: figures({
      cost_usd: 10,
      cost_per_merged_pr: 5,
      merged_prs: 2,
      joined_prs: 2,
      lower_bound: false,
    }),
  },
  not_joined: { no_stamp: 1, conflict: 0, unknown_session: 2, claimed: 0 },
  repositories: [
    { repository: "acme/api", current: figures(), previous: null },
    {
      repository: "acme/web",
      current: null,
      previous: figures({ cost_usd: null, cost_per_merged_pr: null }),
    },
  ],
  repositories_left_out: 3,
  spend: {
    previousUsd: 20,
    currentUsd: 21.5,
    deltaUsd: 1.5,
    parts: {
      users: 2,
      requestsPerUser: -1,
      inputTokensPerRequest: 0.25,
      outputTokensPerRequest: 0,
      pricePerToken: 0,
    },
    unmodelledUsd: 0.25,
    floor: false,
  },
};

test("the digest reads well as it is", () => {
  expect(fits(Form, DIGEST)).toBe(true);
  expect(digestTitle(DIGEST)).toBe("AI cost of merged pull requests, 16 November 2026 to 22 November 2026");
  expect(digestText(DIGEST).split("\n")).toEqual([
    "- Merged pull requests: **4** (2)",
    "- Joined to a session: **3 of 4, 75 %** (2 of 2, 100 %)",
    "- Not joined: 1 without a line `Gateway-Session:`, 2 with a session of which no call is recorded",
    "- Their cost: **at least $12.50** ($10.00; +25 %)",
    "- Cost per merged pull request: **at least $3.125** ($5.00; −38 %)",
    "- Reverted since: **1** (1), whose sessions cost $2.00 ($2.00)",
    "",
    "| Repository | Merged | Joined | Cost | Cost per merged PR | Week before | Reverted |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    "| `acme/api` | 4 | 3 of 4, 75 % | at least $12.50 | at least $3.125 | none | 1 |",
    "| `acme/web` | 0 | none | $0.00 | none | unknown | 0 |",
    "",
    "And 3 more repositories.",
    "",
    "All calls together cost $21.50, +$1.50 compared with the week before. What changed it:",
    "",
    "- people: +$2.00",
    "- calls per person: −$1.00",
    "- input per call: +$0.25",
    "- output per call: +$0.00",
    "- price per token: +$0.00",
    "- not explained by these: +$0.25",
    "",
    expect.stringContaining("Whole days in UTC") as unknown as string,
  ]);
});

test("a week without anything is told as such", () => {
  const empty = digestText({
    ...DIGEST,
    not_joined: { no_stamp: 0, conflict: 0, unknown_session: 0, claimed: 0 },
    total: {
      current: figures({
        merged_prs: 0,
        joined_prs: 0,
        reverted_prs: 0,
        cost_usd: 0,
        cost_per_merged_pr: null,
        reverted_cost_usd: 0,
      }),
      previous: null,
    },
    repositories: [],
    repositories_left_out: 0,
    spend: null,
  });
  expect(empty).toContain("- Joined to a session: **none** (none)");
  expect(empty).toContain("- Cost per merged pull request: **none** (none)");
  expect(empty).not.toContain("|");
});
