import { expect, test } from "bun:test";
import fc from "fast-check";
import { isBlankLine, lineSplitter } from "#gateway/batch/line-splitter.ts";
import { GatewayError } from "#gateway/errors.ts";

test("lines are the same whatever the pieces they come in, and no byte is lost", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("a", "\n", "\r\n", "{}", "ü"), { maxLength: 40 }),
      fc.array(fc.nat(60), { maxLength: 10 }),
      (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(""));
        const ends = [...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort((a, b) => a - b);
        const splitter = lineSplitter(1000);
        const lines: string[] = [];
        let from = 0;
        for (const end of ends) {
          lines.push(...splitter.push(bytes.subarray(from, end)).map((line) => Buffer.from(line).toString()));
          from = end;
        }
        const last = Buffer.from(splitter.end()).toString();
        expect(lines.join("") + last).toBe(bytes.toString());
        expect(lines.every((line) => line.indexOf("\n") === line.length - 1)).toBe(true);
        expect(last).not.toContain("\n");
      },
    ),
  );
});

test("a line over the limit is refused before it is whole", () => {
  const splitter = lineSplitter(10);
  splitter.push(Buffer.from("12345\n123456789"));
  expect(() => splitter.push(Buffer.from("ab"))).toThrow(GatewayError);
});

test("a line of blanks asks for nothing", () => {
  expect([" \t\r\n", "", "\n"].every((line) => isBlankLine(Buffer.from(line)))).toBe(true);
  expect(isBlankLine(Buffer.from(" {}\n"))).toBe(false);
});
