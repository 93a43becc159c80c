import { describe, expect, test } from "bun:test";
import { Secret } from "#gateway/directory.ts";
import { GatewayError } from "#gateway/errors.ts";
import { chooseRoute } from "#gateway/routing/choose.ts";
import type { RoutedCall, RoutingLookups } from "#gateway/routing/lookups.ts";
import { call, directory, key, knowledge, provider, route } from "./world.ts";

const ROUTES = [
  route("coding"),
  route("echo"),
  route("off", { enabled: false }),
  route("tts", { surface: "tts" }),
];

type Facts = Partial<RoutedCall> & { hint?: string };
const chosen = (facts: Facts, world = directory({ routes: ROUTES }), known: RoutingLookups = knowledge()) => {
  const { routeName, source, targets, channel } = chooseRoute(world, call(facts), known);
  return { routeName, source, channel, to: targets.map((it) => `${it.provider.name}:${it.model}`) };
};

function refusal(facts: Facts, world = directory({ routes: ROUTES }), known?: RoutingLookups): string {
  try {
    chooseRoute(world, call(facts), known ?? knowledge());
  } catch (error) {
    if (error instanceof GatewayError) return error.type;
    throw error;
  }
  return "accepted";
}

describe("what decides", () => {
  test("x-task-type wins over the body's route, and that over model", () => {
    expect(chosen({ hint: " coding ", routeMember: "echo", model: "echo" })).toMatchObject({
      routeName: "coding",
      source: "hint",
      channel: "api",
      to: ["p:coding-model"],
    });
    expect(chosen({ routeMember: "coding", model: "echo" })).toMatchObject({
      routeName: "coding",
      source: "hint",
    });
    expect(chosen({ model: "coding" })).toMatchObject({ routeName: "coding", source: "model" });
  });

  test("an empty hint is ignored", () => {
    expect(chosen({ hint: "", routeMember: "coding" })).toMatchObject({
      routeName: "coding",
      source: "hint",
    });
    expect(chosen({ hint: "  ", routeMember: "", model: "coding" })).toMatchObject({ source: "model" });
  });

  test.each(["nothing", "off", "tts", "auto", "Coding", "coding, coding", "coding-model"])(
    "the hint %j names no route of this surface and is refused",
    (hint) => {
      expect(refusal({ hint, model: "coding" })).toBe("unknown_route");
      expect(refusal({ routeMember: hint, model: "coding" })).toBe("unknown_route");
    },
  );

  test("a route's name wins over a model of the same name", () => {
    const world = directory({ routes: [route("gpt"), route("other", { model: "gpt" })] });
    expect(chosen({ model: "gpt" }, world)).toMatchObject({
      routeName: "gpt",
      source: "model",
      to: ["p:gpt-model"],
    });
  });
});

describe("auto", () => {
  test("auto, or no model, goes to the default route", () => {
    expect(chosen({ model: "auto" })).toMatchObject({ routeName: "echo", source: "default" });
    expect(chosen({ model: null })).toMatchObject({ routeName: "echo", source: "default" });
  });

  test.each(["nothing", "off", "tts"])(
    "a default route that cannot answer the surface (%s) is told so",
    (name) => {
      expect(refusal({ model: "auto" }, directory({ routes: ROUTES, defaultRoute: name }))).toBe(
        "model_not_found",
      );
    },
  );

  test("the classifier is offered the surface's routes in the key's scope, and its choice is taken", () => {
    const offered: string[] = [];
    const classify: RoutingLookups["classify"] = (_, { routes }) => {
      offered.push(...routes.map(({ name }) => name));
      return { route: route("coding"), source: "classifier", version: "v1" };
    };
    const facts = { model: "auto", key: key({ routes: ["coding", "off", "tts"] }) };
    expect(chosen(facts, undefined, knowledge([], classify))).toMatchObject({
      routeName: "coding",
      source: "classifier",
    });
    expect(offered).toEqual(["coding"]);
  });

  test("a classifier without an opinion leaves the default route; one is not asked about a named route", () => {
    const none = knowledge([], () => null);
    expect(chosen({ model: "auto" }, undefined, none)).toMatchObject({
      routeName: "echo",
      source: "default",
    });
    const never = knowledge([], () => {
      throw new Error("asked");
    });
    expect(chosen({ model: "coding" }, undefined, never)).toMatchObject({ source: "model" });
  });
});

describe("a concrete model", () => {
  test("a route that pairs it gives its name to the record", () => {
    expect(chosen({ model: "coding-model" })).toMatchObject({
      routeName: "coding",
      source: "direct",
      to: ["p:coding-model"],
    });
  });

  test("a pairing wins over a models list, and that over the price list", () => {
    const providers = [provider("a"), provider("b", { models: ["gpt-*"] }), provider("p")];
    const known = knowledge(["a:gpt-5"]);
    const paired = directory({ providers, routes: [route("r", { model: "gpt-5" })] });
    expect(chosen({ model: "gpt-5" }, paired, known)).toMatchObject({ routeName: "r", to: ["p:gpt-5"] });
    expect(chosen({ model: "gpt-5" }, directory({ providers }), known)).toMatchObject({
      routeName: "(direct)",
      source: "direct",
      to: ["b:gpt-5"],
    });
    expect(
      chosen({ model: "gpt-5" }, directory({ providers: [provider("a"), provider("p")] }), known).to,
    ).toEqual(["a:gpt-5"]);
  });

  test("among equals a provider of the surface's own format is taken, then the first by name", () => {
    const providers = [provider("z"), provider("m1"), provider("m2"), provider("c")];
    const known = knowledge(["z:x", "m1:x", "m2:x", "c:x"]);
    expect(chosen({ model: "x" }, directory({ providers }), known).to).toEqual(["c:x"]);
    expect(chosen({ model: "x", surface: "messages" }, directory({ providers }), known).to).toEqual(["m1:x"]);
  });

  test("of two routes that pair it the one in the key's scope is taken", () => {
    const world = directory({ routes: [route("a", { model: "x" }), route("b", { model: "x" })] });
    expect(chosen({ model: "x" }, world).routeName).toBe("a");
    expect(chosen({ model: "x", key: key({ routes: ["b"] }) }, world).routeName).toBe("b");
  });

  test("a route whose own model it is comes before one that only falls back to it", () => {
    const world = directory({
      routes: [route("a", { fallbacks: [{ provider: "p", model: "x" }] }), route("b", { model: "x" })],
    });
    expect(chosen({ model: "x" }, world)).toMatchObject({ routeName: "b", to: ["p:x"] });
  });

  test("only fallbacks that ask for the very same model are kept", () => {
    const fallbacks = [
      { provider: "p", model: "y" },
      { provider: "q", model: "x" },
    ];
    const world = directory({
      providers: [provider("p"), provider("q")],
      routes: [route("r", { model: "x", fallbacks })],
    });
    expect(chosen({ model: "x" }, world).to).toEqual(["p:x", "q:x"]);
    expect(chosen({ model: "r" }, world).to).toEqual(["p:x", "p:y", "q:x"]);
  });

  test("a model that nobody serves is not found, nor one that only a switched-off provider or route knows", () => {
    const world = directory({
      providers: [provider("p"), provider("q", { enabled: false, models: ["*"] })],
      routes: [route("r", { model: "x", enabled: false }), route("s", { model: "y", surface: "embeddings" })],
    });
    for (const model of ["x", "y", "z", "tts", "__proto__"]) {
      expect(refusal({ model }, world, knowledge(["q:z"]))).toBe("model_not_found");
    }
  });
});

describe("providers that cannot answer", () => {
  const fallbacks = [
    { provider: "gone", model: "x" },
    { provider: "q", model: "y" },
  ];

  test("fallbacks are listed after the first, only those whose provider is switched on", () => {
    const providers = [provider("p"), provider("q", { enabled: false }), provider("r")];
    const routes = [route("a", { fallbacks: [...fallbacks, { provider: "r", model: "z" }] })];
    expect(chosen({ model: "a" }, directory({ providers, routes })).to).toEqual(["p:a-model", "r:z"]);
  });

  test("a switched-off first choice leaves the call to its fallbacks", () => {
    const providers = [provider("p", { enabled: false }), provider("q")];
    expect(chosen({ model: "a" }, directory({ providers, routes: [route("a", { fallbacks })] })).to).toEqual([
      "q:y",
    ]);
  });

  test("when all are switched off the first stays, so that the call resolves and its refusal is recorded", () => {
    const providers = [provider("p", { enabled: false }), provider("q", { enabled: false })];
    const world = directory({ providers, routes: [route("a", { fallbacks })] });
    expect(chosen({ model: "a" }, world).to).toEqual(["p:a-model"]);
    expect(chosen({ model: "a-model" }, world).to).toEqual(["p:a-model"]);
  });

  test("a route none of whose providers exists is not configured", () => {
    expect(refusal({ model: "a" }, directory({ providers: [], routes: [route("a")] }))).toBe(
      "provider_unconfigured",
    );
  });
});

describe("the format of the provider", () => {
  const providers = [provider("p"), provider("m"), provider("only")];
  const world = directory({
    providers,
    routes: [
      route("chat", { fallbacks: [{ provider: "m", model: "claude" }] }),
      route("claude", { provider: "m", model: "claude" }),
      route("only", { provider: "only", model: "x" }),
      route("mixed", { provider: "m", model: "claude", fallbacks: [{ provider: "only", model: "x" }] }),
    ],
  });
  const wires = (facts: Parameters<typeof call>[0]) =>
    chooseRoute(world, call(facts), knowledge()).targets.map(({ model, wire }) => `${model} in ${wire}`);

  test("a provider that speaks the surface's format is called in it, another in its own", () => {
    expect(wires({ model: "chat" })).toEqual(["chat-model in chat", "claude in messages"]);
    expect(wires({ model: "chat", surface: "messages" })).toEqual([
      "chat-model in chat",
      "claude in messages",
    ]);
    expect(wires({ model: "claude", surface: "messages" })).toEqual(["claude in messages"]);
  });

  test("a provider that speaks both formats is called in the surface's, so nothing is translated", () => {
    const both = directory({ providers: [provider("both")], routes: [route("r", { provider: "both" })] });
    for (const [surface, wire] of [
      ["chat.completions", "chat"],
      ["messages", "messages"],
    ] as const) {
      expect(chooseRoute(both, call({ model: "r", surface }), knowledge()).targets).toMatchObject([{ wire }]);
    }
  });

  test("a call that cannot be translated for the route's provider is refused and told so", () => {
    expect(refusal({ model: "only", surface: "messages" }, world)).toBe("invalid_request");
    expect(() => chooseRoute(world, call({ model: "only", surface: "messages" }), knowledge())).toThrow(
      "uses another format than /v1/messages",
    );
  });

  test("a fallback that the call cannot be translated for is left out", () => {
    expect(wires({ model: "mixed", surface: "messages" })).toEqual(["claude in messages"]);
  });
});

describe("a model that nobody is known to serve", () => {
  const at = (name: string, facts: object = {}) =>
    provider(name, { headers: { "x-vendor": new Secret("yes") }, ...facts });
  const to = (model: string, ...providers: ReturnType<typeof provider>[]) => {
    const world = directory({ providers });
    return refusal({ model }, world) === "accepted" ? chosen({ model }, world) : refusal({ model }, world);
  };
  const direct = (target: string) =>
    ({
      routeName: "(direct)",
      source: "direct",
      channel: "api",
      to: [target] as string[],
    }) as const;

  test("goes to its vendor's provider, also by translation", () => {
    expect(to("a-of-tomorrow", at("a"), at("b"))).toEqual(direct("a:a-of-tomorrow"));
    expect(to("m-of-tomorrow", at("a"), at("m"))).toEqual(direct("m:m-of-tomorrow"));
  });

  test("but not to a server that is not the vendor's own, is switched off, or cannot be reached in any format", () => {
    expect(to("a-of-tomorrow", provider("a"), at("b"))).toBe("model_not_found");
    expect(to("a-of-tomorrow", at("a", { enabled: false }), at("b"))).toBe("model_not_found");
    expect(to("only-m-of-tomorrow", at("only-m"))).toEqual(direct("only-m:only-m-of-tomorrow"));
  });

  test("and whose name no vendor gives goes to the only provider of the format, if that is a vendor's own", () => {
    expect(to("mystery", at("a"), at("m"))).toEqual(direct("a:mystery"));
    expect(to("mystery", at("a"), provider("b"))).toBe("model_not_found");
    expect(to("mystery", provider("a"))).toBe("model_not_found");
  });
});
