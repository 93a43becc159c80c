import { expect, test } from "bun:test";
import { claudeFacts } from "#gateway/translate/messages/claude-models.ts";

test.each([
  ["us.anthropic.claude-opus-4-20250514-v1:0", "claude-opus-4-20250514"],
  ["global.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5-20250929"],
  ["anthropic.claude-opus-4-6-v1", "claude-opus-4-6"],
  ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"],
])("a cloud's name of a model means the vendor's: %s", (clouds, vendors) => {
  expect(claudeFacts(clouds)).toEqual(claudeFacts(vendors));
  expect(claudeFacts(clouds)).not.toEqual(claudeFacts("another-vendors-model"));
});
