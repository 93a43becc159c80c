import { describe, expect, test } from "bun:test";
import { foldsFor, hasFew } from "#gateway/routing/classify/effort.ts";
import type { Sample } from "#gateway/routing/classify/material.ts";

const samplesOf = (source: Sample["source"], perRoute: readonly number[]) =>
  perRoute.flatMap((count, label) =>
    Array.from({ length: count }, () => ({ source, label }) as unknown as Sample),
  );

describe("how thoroughly is measured what training did not see", () => {
  test("20 examples a route on average are few, and more are not", () => {
    expect(hasFew({ samples: samplesOf("example", [10, 30]) })).toBe(true);
    expect(hasFew({ samples: samplesOf("example", [11, 30]) })).toBe(false);
  });

  test("built-in examples and descriptions are not counted, and nothing of one's own is not few", () => {
    const own = samplesOf("example", [5, 5]);
    expect(hasFew({ samples: [...own, ...samplesOf("builtin", [400, 400])] })).toBe(true);
    expect(hasFew({ samples: samplesOf("builtin", [400, 400]) })).toBe(false);
    expect(hasFew({ samples: samplesOf("hint", [1, 1]) })).toBe(false);
  });

  test("of few examples a smaller part is held out at a time", () => {
    expect(foldsFor(true)).toBeGreaterThan(foldsFor(false));
  });
});
