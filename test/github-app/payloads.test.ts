import { describe, expect, test } from "bun:test";
import {
  coveragePayload,
  installationPayload,
  pullRequestPayload,
  REPOSITORY,
  renamePayload,
  reviewPayload,
  schemaFaults,
} from "#test/support/github-payloads.ts";

const merge = { mergedAt: "2026-11-02T10:00:00Z", at: "2026-11-02T10:00:00Z" };

describe("the deliveries that the tests make of GitHub's examples fit GitHub's own schemas", () => {
  const cases = [
    ["pull_request", pullRequestPayload()],
    ["pull_request", pullRequestPayload({ body: null })],
    ["pull_request", pullRequestPayload({ action: "closed" })],
    ["pull_request", pullRequestPayload({ action: "closed", ...merge })],
    ["pull_request", pullRequestPayload({ action: "edited", formerBody: "" })],
    ["pull_request", pullRequestPayload({ action: "edited", formerTitle: "x", ...merge })],
    ["pull_request", pullRequestPayload({ action: "reopened" })],
    ["pull_request", pullRequestPayload({ action: "synchronize" })],
    ["pull_request", pullRequestPayload({ action: "ready_for_review" })],
    ["pull_request_review", reviewPayload({ body: "Gateway-Session: a" })],
    ["pull_request_review", reviewPayload({ updatedAt: "2026-11-01T12:00:00Z" })],
    ["pull_request_review", reviewPayload({ action: "edited", body: "x", formerBody: "y" })],
    ["pull_request_review", reviewPayload({ action: "dismissed" })],
    ["installation", installationPayload({ action: "created", repositories: [REPOSITORY] })],
    ["installation", installationPayload({ action: "deleted" })],
    ["installation", installationPayload({ action: "unsuspend" })],
    ["installation_repositories", coveragePayload({ action: "added", repositories: [REPOSITORY] })],
    ["installation_repositories", coveragePayload({ action: "removed", repositories: [REPOSITORY] })],
    ["repository", renamePayload({ repository: REPOSITORY, formerName: "Old", at: "2026-11-01T12:00:00Z" })],
  ] as const;
  test.each(cases)("%s", (event, payload) => {
    expect(schemaFaults(event, payload)).toEqual([]);
  });
});
