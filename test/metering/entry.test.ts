import { expect, test } from "bun:test";
import { closeEntry, type Facts } from "#gateway/metering/entry.ts";
import { NO_USAGE } from "#shared/usage.ts";
import { openRow } from "../support/recorder-kit.ts";

const facts = (told: {
  responseModel?: string;
  serviceTier?: string;
  providerRequestId?: string;
}): Facts => ({
  state: "ok",
  status: 200,
  errorType: null,
  target: null,
  attempts: 1,
  providerRequestId: told.providerRequestId ?? null,
  reading: {
    usage: NO_USAGE,
    usageSource: "none",
    responseModel: told.responseModel ?? null,
    serviceTier: told.serviceTier ?? null,
    reportedCostUsd: null,
  },
  priced: { costUsd: null, tokenCostUsd: null, price: null },
  ttftMs: null,
  droppedMembers: null,
});

test("what a provider says of itself is recorded", () => {
  const told = { responseModel: "gpt-5.1-2026-01-01", serviceTier: "flex", providerRequestId: "req_1" };
  expect(closeEntry(openRow(), facts(told), 1)).toMatchObject(told);
});

test.each(["gpt-\0", "gpt-\ud800", "x".repeat(257)])(
  "a text of the provider's that cannot be stored, %j, is left out, and the record is not lost",
  (text) => {
    const row = closeEntry(
      openRow(),
      facts({ responseModel: text, serviceTier: text, providerRequestId: text }),
      1,
    );
    const { responseModel, serviceTier, providerRequestId, status } = row;
    expect([responseModel, serviceTier, providerRequestId, status]).toEqual([
      undefined,
      undefined,
      undefined,
      200,
    ]);
  },
);

test("the JSON of a record leaves out what is not known", () => {
  expect(JSON.stringify(closeEntry(openRow(), facts({}), 1))).not.toContain("null");
});
