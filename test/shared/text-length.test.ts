import { describe, expect, test } from "bun:test";
import { KeyBody } from "#shared/admin/keys.ts";
import { isModelName, LABEL_MAX, MODEL_MAX, parseLabel } from "#shared/labels.ts";
import { Spec } from "#shared/report.ts";
import { faultsOf } from "#shared/schema.ts";

// Outside the Basic Multilingual Plane: one character, two UTF-16 code units, four bytes.
const WIDE = "𠮷";

describe("limits count characters, not UTF-16 code units", () => {
  test.each(Object.entries(LABEL_MAX))("of a label: %s", (_, max) => {
    expect(parseLabel(WIDE.repeat(max), max)).toBe(WIDE.repeat(max));
    expect(parseLabel(`${WIDE.repeat(max)}x`, max)).toBeNull();
    expect(parseLabel("x".repeat(max + 1), max)).toBeNull();
    expect(parseLabel(WIDE.repeat(1_000_000), max)).toBeNull();
  });

  test("of a model's name", () => {
    expect(isModelName(WIDE.repeat(MODEL_MAX))).toBe(true);
    expect(isModelName(WIDE.repeat(MODEL_MAX + 1))).toBe(false);
  });

  test("of a key's name, and the refusal says the limit", () => {
    expect(faultsOf(KeyBody, { name: WIDE.repeat(128) })).toEqual([]);
    const message = "Expected text of 1 to 128 characters, none of them a control character";
    for (const name of [WIDE.repeat(129), "x".repeat(129), "", "a\nb", "\ud800"]) {
      expect(faultsOf(KeyBody, { name })).toEqual([{ path: "/name", message }]);
    }
  });

  test("of a report's filter, as the published schema counts them", () => {
    const faults = (value: string) =>
      faultsOf(Spec.properties.filters, { client: [value] }).map(({ message }) => message);
    expect(faults(WIDE.repeat(200))).toEqual([]);
    expect(faults(WIDE.repeat(201))).toEqual(["Expected text of 1 to 200 characters"]);
  });
});
