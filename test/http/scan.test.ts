import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "#gateway/errors.ts";
import { DEPTH_MAX } from "#gateway/http/json-grammar.ts";
import { booleanMember, MEMBERS_MAX, memberValue, scanJson } from "#gateway/http/scan.ts";
import { bodyText, utf8 } from "./json-text.ts";

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(bytes: Uint8Array): GatewayError | null {
  try {
    scanJson(bytes);
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

describe("scanJson agrees with JSON.parse", () => {
  test("it accepts every object and finds under each name what JSON.parse finds", () => {
    fc.assert(
      fc.property(bodyText(["model", "route", "__proto__", ""]), (text) => {
        const body = scanJson(utf8(text));
        const object = JSON.parse(text) as object;
        expect([...body.members.keys()].sort()).toEqual(Object.keys(object).sort());
        for (const name of body.members.keys()) {
          expect(memberValue(body, name)).toEqual(Object.getOwnPropertyDescriptor(object, name)?.value);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a text that was damaged anywhere is accepted exactly where JSON.parse still reads an object", () => {
    const damage = fc.constantFrom(
      "",
      ",",
      '"',
      "\\",
      "{",
      "}",
      "[",
      "]",
      ":",
      "0",
      "-",
      ".",
      "e",
      "\n",
      "\0",
      "u",
      "t",
    );
    fc.assert(
      fc.property(bodyText(["model"]), fc.nat(), fc.nat(2), damage, (text, place, removed, put) => {
        const at = place % (text.length + 1);
        const damaged = (text.slice(0, at) + put + text.slice(at + removed)).toWellFormed();
        expect(refusal(utf8(damaged)) === null).toBe(isObject(parsed(damaged)));
      }),
      { numRuns: 3000 },
    );
  });

  test("arbitrary bytes are accepted exactly where they are UTF-8 and JSON.parse reads an object", () => {
    const alphabet = fc.constantFrom(...utf8('{}[]":,\\ \n-+.0123456789eEtruefalsn'), 0xc3, 0xa9, 0xff, 0x00);
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 12 }), (bytes) => {
        const body = Uint8Array.from([0x7b, ...bytes, 0x7d]);
        let text: string | null = null;
        try {
          text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
        } catch {}
        expect(refusal(body) === null).toBe(text !== null && isObject(parsed(text)));
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    "01",
    "-",
    "1.",
    ".5",
    "1e",
    "1e+",
    "+1",
    "0x1",
    "NaN",
    "Infinity",
    "tru",
    "nul",
    "falsee",
    "'a'",
    '"\t"',
    '"\\x"',
    '"\\u12g4"',
    '"\\u12',
    '"a',
    "[1,]",
    "[,1]",
    "[1 2]",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "{a:1}",
    '{"a" 1}',
    "/**/1",
    "\u00a01",
    "\ufeff1",
    "",
  ])("the value %j is refused", (value) => {
    expect(refusal(utf8(`{"a":${value}}`))?.type).toBe("invalid_request");
  });

  test.each(["", " ", "[]", '"a"', "1", "null", "{}{}", "{} x", "{},", "{", "}"])(
    "the body %j is refused",
    (body) => {
      expect(refusal(utf8(body))?.type).toBe("invalid_request");
    },
  );
});

describe("scanJson keeps its bounds", () => {
  const nested = (depth: number) => utf8(`{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`);

  test("a body nested 128 deep is accepted, 129 deep is refused, a million deep costs no stack", () => {
    expect(refusal(nested(DEPTH_MAX))).toBeNull();
    expect(refusal(nested(DEPTH_MAX + 1))?.message).toContain("128");
    expect(refusal(nested(1_000_000))?.type).toBe("invalid_request");
    expect(refusal(utf8('{"a":'.repeat(1_000_000)))?.type).toBe("invalid_request");
  });

  test("more members than the limit are refused, also when all have one name", () => {
    const members = (count: number) => utf8(`{${Array.from({ length: count }, () => '"a":0').join(",")}}`);
    expect(refusal(members(MEMBERS_MAX))).toBeNull();
    expect(refusal(members(MEMBERS_MAX + 1))?.type).toBe("invalid_request");
  });

  test("a byte order mark and bytes that are no UTF-8 are refused by name", () => {
    expect(refusal(utf8("\ufeff{}"))?.message).toContain("byte order mark");
    expect(refusal(Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))?.message).toContain("UTF-8");
    expect(
      refusal(Uint8Array.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]))?.message,
    ).toContain("UTF-8");
  });

  test("no refusal quotes the body", () => {
    for (const body of [
      '{"model":"canary" canary}',
      '{"canary',
      "canary",
      '{"a":canary}',
      '{"a":"canary\n"}',
    ]) {
      expect(refusal(utf8(body))?.message).not.toContain("canary");
    }
  });

  test("a view into a larger buffer is read within its bounds", () => {
    const whole = utf8('xx{"model":"a"}yy');
    expect(memberValue(scanJson(whole.subarray(2, -2)), "model")).toBe("a");
  });
});

describe("memberValue", () => {
  test("of several values the last counts, also when its key is written with escapes", () => {
    expect(memberValue(scanJson(utf8('{"model":"a","mod\\u0065l":"b"}')), "model")).toBe("b");
    expect(memberValue(scanJson(utf8('{"mod\\u0065l":"b","model":"a"}')), "model")).toBe("a");
  });

  test("only the top level counts, and an absent member is undefined", () => {
    const body = scanJson(utf8('{"metadata":{"model":"inner"}}'));
    expect(memberValue(body, "model")).toBeUndefined();
    expect(memberValue(body, "toString")).toBeUndefined();
  });
});

test("a flag is true, false, null or absent; anything that a provider might take for true is refused by its name", () => {
  const flag = (text: string) => booleanMember(scanJson(utf8(text)), "stream");
  expect(['{"stream":true}', '{"stream":false}', '{"stream":null}', "{}"].map(flag)).toEqual([
    true,
    false,
    false,
    false,
  ]);
  for (const value of ["1", "0", '"true"', '""', "[]", "{}"]) {
    expect(() => flag(`{"stream":${value}}`)).toThrow("`stream` must be true or false.");
  }
});
