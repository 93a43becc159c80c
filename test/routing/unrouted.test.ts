import { describe, expect, test } from "bun:test";
import { Secret } from "#gateway/directory.ts";
import { GatewayError } from "#gateway/errors.ts";
import { chooseRoute } from "#gateway/routing/choose.ts";
import type { RoutedCall, RoutingLookups } from "#gateway/routing/lookups.ts";
import { call, directory, key, knowledge, provider, route } from "./world.ts";

type World = ReturnType<typeof directory>;
type Facts = Partial<RoutedCall> & { hint?: string };
const decided = (world: World, facts: Facts, known: RoutingLookups = knowledge()) => {
  try {
    const { routeName, source, targets } = chooseRoute(world, call(facts), known);
    return `${routeName} ${source} ${targets.map((it) => `${it.provider.name}:${it.model}`).join(",")}`;
  } catch (error) {
    if (error instanceof GatewayError) return error.type;
    throw error;
  }
};

describe("surfaces without a text to classify", () => {
  const FIXED = [
    ["images.generations", "image_generation"],
    ["audio.speech", "tts"],
    ["rerank", "rerank"],
    ["rerank.v2", "rerank"],
  ] as const;
  const world = directory({
    routes: [
      route("image_generation", { surface: "image_generation" }),
      route("tts", { surface: "tts" }),
      route("rerank", { surface: "rerank" }),
      route("voice", { surface: "tts" }),
      route("echo"),
    ],
  });

  test.each(FIXED)("%s: auto, or no model, is the route %s, and nothing is classified", (surface, name) => {
    const asked = knowledge([], () => {
      throw new Error("asked");
    });
    for (const model of ["auto", null]) {
      expect(decided(world, { surface, model }, asked)).toBe(`${name} fixed p:${name}-model`);
    }
  });

  test("a named route, a hint and a concrete model win as everywhere", () => {
    const surface = "audio.speech" as const;
    expect(decided(world, { surface, model: "voice" })).toBe("voice model p:voice-model");
    expect(decided(world, { surface, hint: "voice", model: "auto" })).toBe("voice hint p:voice-model");
    expect(decided(world, { surface, model: "voice-model" })).toBe("voice direct p:voice-model");
    expect(decided(world, { surface, hint: "rerank" })).toBe("unknown_route");
  });

  test("without its route auto finds nothing", () => {
    const bare = directory({ routes: [route("voice", { surface: "tts" }), route("echo")] });
    expect(decided(bare, { surface: "audio.speech", model: "auto" })).toBe("model_not_found");
  });
});

describe("surfaces that no route can be named on", () => {
  const surface = "moderations" as const;
  const echo = provider("echo", { kind: "echo" });
  const only = directory({
    providers: [echo, provider("a"), provider("m1"), provider("off", { enabled: false })],
  });

  test("a model that nobody is known to serve, or none, goes to the only provider that speaks the format", () => {
    expect(decided(only, { surface, model: null })).toBe("(direct) direct a:null");
    expect(decided(only, { surface, model: "mystery" })).toBe("(direct) direct a:mystery");
  });

  test("the built-in provider never stands in, and of several none is chosen", () => {
    expect(decided(directory({ providers: [echo] }), { surface, model: null })).toBe("model_not_found");
    const several = directory({ providers: [provider("a"), provider("b")] });
    expect(decided(several, { surface, model: null })).toBe("invalid_request");
  });

  test("of several, the default of the surface comes first, then the one of the format's inventor", () => {
    const second = provider("b");
    const inventor = provider("c", { headers: { "x-inventor": new Secret("yes") } });
    const named = provider("d", { defaultFor: [surface] });
    const to = (...providers: ReturnType<typeof provider>[]) =>
      decided(directory({ providers: [provider("a"), ...providers] }), { surface, model: null });
    expect(to(second)).toBe("invalid_request");
    expect(to(second, inventor)).toBe("(direct) direct c:null");
    expect(to(second, inventor, named)).toBe("(direct) direct d:null");
    const off = provider("d", { defaultFor: [surface], enabled: false });
    expect(to(second, inventor, off)).toBe("(direct) direct c:null");
  });

  test("who is known to serve the model comes first: by any route, a list or the price list", () => {
    const providers = [provider("a", { models: ["omni-*"] }), provider("b"), provider("p")];
    const routes = [route("paint", { surface: "image_generation", model: "painter" })];
    const world = directory({ providers, routes });
    expect(decided(world, { surface: "images.edits", model: "painter" })).toBe("paint direct p:painter");
    expect(decided(world, { surface, model: "omni-1" })).toBe("(direct) direct a:omni-1");
    expect(decided(world, { surface, model: "x" }, knowledge(["b:x"]))).toBe("(direct) direct b:x");
    expect(decided(directory({ providers: [echo] }), { surface, model: "e" }, knowledge(["echo:e"]))).toBe(
      "(direct) direct echo:e",
    );
  });

  test("auto and hints are refused: nothing is routed here", () => {
    const world = directory({ routes: [route("echo")] });
    expect(decided(world, { surface, model: "auto" })).toBe("invalid_request");
    expect(decided(world, { surface, hint: "echo" })).toBe("unknown_route");
    expect(decided(world, { surface, routeMember: "echo", key: key() })).toBe("unknown_route");
  });
});
