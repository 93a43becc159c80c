import { expect, test } from "bun:test";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { WIRES } from "#gateway/providers/wires.ts";

const tierOf = (usage: object) => {
  const answer = { type: "message", model: "claude-opus-4-6", usage: { input_tokens: 1, ...usage } };
  return WIRES.messages.readAnswer(Buffer.from(JSON.stringify(answer)), PROVIDERS.anthropic).serviceTier;
};

test("what is charged by another list than the usual one is told by the tier: fast mode, and the US alone", () => {
  expect(tierOf({ service_tier: "standard", speed: "fast", inference_geo: "us" })).toBe("fast");
  expect(tierOf({ service_tier: "standard", inference_geo: "us" })).toBe("us");
  expect(tierOf({ service_tier: null, inference_geo: "us" })).toBe("us");
  expect(tierOf({ service_tier: "priority", inference_geo: "us" })).toBe("priority");
  for (const inference_geo of ["global", "not_available", null, undefined, 1]) {
    expect(tierOf({ service_tier: "standard", inference_geo })).toBe("standard");
  }
});
