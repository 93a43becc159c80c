import { describe, expect, test } from "bun:test";
import type { ClientKey } from "#gateway/directory.ts";
import { GatewayError } from "#gateway/errors.ts";
import { chooseRoute } from "#gateway/routing/choose.ts";
import { requireScope, usableRoutes } from "#gateway/routing/scope.ts";
import { call, directory, key, knowledge, provider, route } from "./world.ts";

const WORLD = directory({
  providers: [provider("p"), provider("q"), provider("dark", { enabled: false })],
  routes: [
    route("z-plain", { model: "m1" }),
    route("fallen", { model: "m1", fallbacks: [{ provider: "q", model: "m2" }] }),
    route("half", { model: "m1", fallbacks: [{ provider: "dark", model: "m2" }] }),
    route("dead", { provider: "dark" }),
    route("off", { enabled: false }),
    route("tts", { surface: "tts", model: "m3" }),
  ],
});

function verdict(scopes: ClientKey["scopes"], model: string, beside: (string | null)[] = []): string {
  const caller = key(scopes);
  const choice = chooseRoute(WORLD, call({ model, key: caller }), knowledge(["q:free"]));
  try {
    requireScope(caller, choice, () => beside);
  } catch (error) {
    if (error instanceof GatewayError) return error.type;
    throw error;
  }
  return "allowed";
}

const usable = (scopes: ClientKey["scopes"]) => usableRoutes(WORLD, key(scopes)).map(({ name }) => name);

describe("requireScope", () => {
  test.each([
    ["a key without lists may use everything", {}, "fallen", "allowed"],
    ["an empty list allows nothing", { routes: [] }, "z-plain", "route_not_allowed"],
    ["a listed route is allowed", { routes: ["z-plain"] }, "z-plain", "allowed"],
    ["another one is not", { routes: ["z-plain"] }, "fallen", "route_not_allowed"],
    ["names are exact, no globs", { routes: ["*"], models: ["*"] }, "z-plain", "route_not_allowed"],
    [
      "models are the concrete ones, not the route's name",
      { models: ["z-plain"] },
      "z-plain",
      "model_not_allowed",
    ],
    ["the concrete model is listed", { models: ["m1"] }, "z-plain", "allowed"],
    ["a fallback's model must be listed too", { models: ["m1"] }, "fallen", "model_not_allowed"],
    ["with both listed it is allowed", { models: ["m1", "m2"] }, "fallen", "allowed"],
    ["a fallback that cannot be called needs no listing", { models: ["m1"] }, "half", "allowed"],
    [
      "of two lists both must hold: route",
      { routes: ["fallen"], models: ["m1"] },
      "z-plain",
      "route_not_allowed",
    ],
    [
      "of two lists both must hold: model",
      { routes: ["z-plain"], models: ["m2"] },
      "z-plain",
      "model_not_allowed",
    ],
    ["a concrete model belongs to the route that pairs it", { routes: ["z-plain"] }, "m1", "allowed"],
    ["a concrete model of no route is no listed route", { routes: ["z-plain"] }, "free", "route_not_allowed"],
    ["nor can a list name it", { routes: ["(direct)"] }, "free", "route_not_allowed"],
    ["a listed concrete model is allowed without any route", { models: ["free"] }, "free", "allowed"],
  ])("%s", (_, scopes, model, expected) => {
    expect(verdict(scopes, model)).toBe(expected);
  });

  test("a model that the call asks for besides is held to the same lists", () => {
    const both = { routes: ["z-plain"], models: ["m1", "m9"] };
    expect(verdict({}, "z-plain", ["m9", null])).toBe("allowed");
    expect(verdict({ models: ["m1", "m9"] }, "z-plain", ["m9"])).toBe("allowed");
    expect(verdict({ models: ["m1"] }, "z-plain", ["m9"])).toBe("model_not_allowed");
    expect(verdict({ models: ["m1", "m9"] }, "z-plain", ["m9", null])).toBe("model_not_allowed");
    expect(verdict(both, "z-plain", ["m9"])).toBe("allowed");
    expect(verdict(both, "z-plain", ["m8"])).toBe("model_not_allowed");
  });

  test("where only routes are listed, it must be a model of the chosen route", () => {
    expect(verdict({ routes: ["fallen"] }, "fallen", ["m2"])).toBe("allowed");
    expect(verdict({ routes: ["z-plain"] }, "z-plain", ["m2"])).toBe("model_not_allowed");
    expect(verdict({ routes: ["z-plain"] }, "z-plain", [null])).toBe("model_not_allowed");
  });
});

describe("usableRoutes", () => {
  test("every enabled route that somebody serves, by name, of every surface", () => {
    expect(usable({})).toEqual(["fallen", "half", "tts", "z-plain"]);
  });

  test("what the list offers is what a call is allowed", () => {
    expect(usable({ models: ["m1"] })).toEqual(["half", "z-plain"]);
    expect(usable({ routes: ["fallen", "off", "dead"] })).toEqual(["fallen"]);
    expect(usable({ routes: ["fallen"], models: ["m1"] })).toEqual([]);
    for (const scopes of [{}, { models: ["m1"] }, { routes: ["fallen"] }]) {
      const chat = usable(scopes).filter((name) => name !== "tts");
      expect(chat.map((name) => verdict(scopes, name))).toEqual(chat.map(() => "allowed"));
    }
  });
});
