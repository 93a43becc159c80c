import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { SURFACE_NAMES, surfaceFacts } from "#gateway/surface-facts.ts";
import { ProviderPatch } from "#shared/admin/providers.ts";

test.each(SURFACE_NAMES)(
  "%s: a provider can be its default if no route can serve it, and only then",
  (surface) => {
    expect(Value.Check(ProviderPatch, { default_for: [surface] })).toBe(
      surfaceFacts(surface).routeSurface === null && surface !== "pass_through",
    );
  },
);
