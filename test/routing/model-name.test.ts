import { describe, expect, test } from "bun:test";
import { GatewayError } from "#gateway/errors.ts";
import { chooseRoute } from "#gateway/routing/choose.ts";
import type { RoutedCall } from "#gateway/routing/lookups.ts";
import { call, directory, knowledge, provider } from "./world.ts";

const world = directory({ providers: [provider("p", { models: ["*"] })] });

function refusal(facts: Partial<RoutedCall>): string {
  try {
    chooseRoute(world, call(facts), knowledge());
  } catch (error) {
    if (error instanceof GatewayError) return error.type;
    throw error;
  }
  return "accepted";
}

/** Postgres stores none of these, and a call that cannot be recorded must not be made. */
const UNSTORABLE = ["gpt-\0", "gpt-\ud800", "gpt-\u001b[2J", "gpt\n4", `gpt-${"x".repeat(253)}`];

describe("a concrete model that cannot be recorded", () => {
  test.each(UNSTORABLE)("%j is unknown, though a provider says that it serves all", (model) => {
    expect(refusal({ model })).toBe("model_not_found");
    expect(refusal({ model, surface: "embeddings" })).toBe("model_not_found");
  });

  test.each(UNSTORABLE)("%j is unknown where no route can name a model", (model) => {
    expect(refusal({ model, surface: "moderations" })).toBe("model_not_found");
  });

  test("256 characters of any script are a name", () => {
    expect(refusal({ model: "模".repeat(256) })).toBe("accepted");
    expect(refusal({ model: "accounts/fireworks/models/glm-4p6:free" })).toBe("accepted");
  });
});
