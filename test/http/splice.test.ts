import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonBody } from "#gateway/call.ts";
import { scanJson } from "#gateway/http/scan.ts";
import { asksForUsage, type Edits, splice } from "#gateway/http/splice.ts";
import { cpuMs } from "#test/support/cpu-time.ts";
import { bodyText, utf8 } from "./json-text.ts";

const text = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
const spliced = (body: string, edits: Edits = {}) => text(splice(scanJson(utf8(body)), edits));

/** The members of a body in their order: name, and the very bytes of key, colon and value. */
function membersIn(body: JsonBody): { name: string; raw: string; value: string }[] {
  return [...body.members]
    .flatMap(([name, places]) => places.map((place) => ({ name, place })))
    .sort((a, b) => a.place.keyStart - b.place.keyStart)
    .map(({ name, place }) => ({
      name,
      raw: text(body.bytes.subarray(place.keyStart, place.valueStart)),
      value: text(body.bytes.subarray(place.valueStart, place.valueEnd)),
    }));
}

const NAMES = ["model", "route", "stream_options", "messages", "n"];
const edits: fc.Arbitrary<Edits> = fc.record(
  { model: fc.constantFrom("gpt-4o", 'a"b\\c', "é\u2028😀"), askForUsage: fc.boolean() },
  { requiredKeys: [] },
);

describe("splice", () => {
  test("every member but model, route and stream_options keeps every byte and its place", () => {
    fc.assert(
      fc.property(bodyText(NAMES), edits, (original, wanted) => {
        const before = scanJson(utf8(original));
        const after = scanJson(splice(before, wanted));
        const others = (body: JsonBody) =>
          membersIn(body).filter(({ name }) => !NAMES.slice(0, 3).includes(name));
        expect(others(after)).toEqual(others(before));
      }),
      { numRuns: 1000 },
    );
  });

  test("the result is an object in which every model is the one asked for and no route is left", () => {
    fc.assert(
      fc.property(bodyText(NAMES), edits, (original, wanted) => {
        const after = scanJson(splice(scanJson(utf8(original)), wanted));
        const members = membersIn(after);
        expect(members.filter(({ name }) => name === "route")).toEqual([]);
        if (wanted.model === undefined) return;
        const models = members.filter(({ name }) => name === "model").map(({ value }) => JSON.parse(value));
        expect(new Set(models)).toEqual(new Set([wanted.model]));
      }),
      { numRuns: 1000 },
    );
  });

  test("a body without route is only ever changed inside the values asked for", () => {
    fc.assert(
      fc.property(bodyText(["model", "messages"]), fc.constantFrom("m", "other"), (original, model) => {
        const body = scanJson(utf8(original));
        const places = body.members.get("model") ?? [];
        const pieces = places.toSorted((a, b) => a.keyStart - b.keyStart).reverse();
        let expected = utf8(original);
        for (const { valueStart, valueEnd } of pieces) {
          if (JSON.parse(text(expected.subarray(valueStart, valueEnd))) === model) continue;
          expected = Buffer.concat([
            expected.subarray(0, valueStart),
            utf8(JSON.stringify(model)),
            expected.subarray(valueEnd),
          ]);
        }
        if (places.length > 0) expect(text(splice(body, { model }))).toBe(text(expected));
      }),
      { numRuns: 500 },
    );
  });

  test("usage is asked for, whatever the client wrote", () => {
    fc.assert(
      fc.property(bodyText(["stream_options", "include_usage"]), (original) => {
        expect(asksForUsage(scanJson(splice(scanJson(utf8(original)), { askForUsage: true })))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test("splicing twice is splicing once, and then nothing is copied", () => {
    fc.assert(
      fc.property(bodyText(NAMES), edits, (original, wanted) => {
        const once = splice(scanJson(utf8(original)), wanted);
        expect(splice(scanJson(once), wanted)).toBe(once);
      }),
      { numRuns: 500 },
    );
  });

  test("a body that needs no change is the very same array", () => {
    const bytes = utf8('{ "model" : "gp\\u0074" , "n":1.0 }');
    expect(splice(scanJson(bytes), { model: "gpt" })).toBe(bytes);
    expect(splice(scanJson(bytes), {})).toBe(bytes);
  });

  test.each([
    ['{"route":"a"}', "{}"],
    ['{ "route" : "a" }', "{  }"],
    ['{"route":"a","x":1}', '{"x":1}'],
    ['{"x":1,"route":"a"}', '{"x":1}'],
    ['{"x":1 , "route":"a" }', '{"x":1  }'],
    ['{"x":1,\n  "route": "a",\n  "y":2}', '{"x":1,\n  "y":2}'],
    ['{"route":1,"route":2}', "{}"],
    ['{"x":1,"route":1,"rout\\u0065":{"route":2}}', '{"x":1}'],
    ['{"route":1,"x":1,"route":2,"route":3,"y":{"route":4},"route":5}', '{"x":1,"y":{"route":4}}'],
    ['{"x":[{"route":"kept"}]}', '{"x":[{"route":"kept"}]}'],
  ])("route leaves with exactly one comma: %s", (body, expected) => {
    expect(spliced(body)).toBe(expected);
  });

  test.each([
    ['{"model":"auto","n":12345678901234567890}', '{"model":"m","n":12345678901234567890}'],
    ['{"model" : null }', '{"model" : "m" }'],
    ['{"model":"a","mod\\u0065l":{"b":1}}', '{"model":"m","mod\\u0065l":"m"}'],
    ["{}", '{"model":"m"}'],
    [' { "n":1.0}', ' {"model":"m", "n":1.0}'],
    ['{"route":"r"}', '{"model":"m"}'],
    ['{"route":"r","n":-0}', '{"model":"m","n":-0}'],
    ['{"x":{"model":"inner"}}', '{"model":"m","x":{"model":"inner"}}'],
  ])("model is replaced in place, or put first when absent: %s", (body, expected) => {
    expect(spliced(body, { model: "m" })).toBe(expected);
  });

  test.each([
    ["{}", '{"stream_options":{"include_usage":true}}'],
    ['{"route":1}', '{"stream_options":{"include_usage":true}}'],
    ['{"n":1}', '{"stream_options":{"include_usage":true},"n":1}'],
    ['{"stream_options":{}}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options": { "a":1 } }', '{"stream_options": {"include_usage":true, "a":1 } }'],
    [
      '{"stream_options":{"include_usage" : false,"a":1}}',
      '{"stream_options":{"include_usage" : true,"a":1}}',
    ],
    ['{"stream_options":null}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options":{"include_usage":true}}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options":"odd"}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options":[{}],"a":5}', '{"stream_options":{"include_usage":true},"a":5}'],
  ])("usage is asked for inside stream_options alone: %s", (body, expected) => {
    expect(spliced(body, { askForUsage: true })).toBe(expected);
  });

  test("white space before a route member is walked once, however long it is", async () => {
    const body = `{"x":1,${" ".repeat(2_000_000)}"route":"a"}`;
    expect(await cpuMs(() => expect(spliced(body)).toBe('{"x":1}'))).toBeLessThan(1000);
  });
});

describe("asksForUsage", () => {
  test.each([
    ['{"stream_options":{"include_usage":true}}', true],
    ['{"stream_options":{"include_usage":false,"include_usage":true}}', true],
    ['{"stream_options":{"include_usage":true},"stream_options":{}}', false],
    ['{"stream_options":{"include_usage":"true"}}', false],
    ['{"stream_options":[]}', false],
    ['{"stream_options":null}', false],
    ["{}", false],
  ])("%s → %p", (body, expected) => {
    expect(asksForUsage(scanJson(utf8(body)))).toBe(expected);
  });
});
