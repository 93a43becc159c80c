import { expect, test } from "bun:test";
import fc from "fast-check";
import { ratio, toNumber } from "#gateway/reports/quotient.ts";
import { difference, parseDecimal, ZERO } from "#shared/decimal.ts";

test("a decimal leaves as the double nearest to it, the very one that JSON would read", () => {
  const decimal = fc
    .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.integer({ min: 0, max: 30 }))
    .map(([digits, scale]) => {
      const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, "0");
      const point = text.length - scale;
      return `${digits < 0n ? "-" : ""}${text.slice(0, point)}${scale ? `.${text.slice(point)}` : ""}`;
    });
  // `+ 0` because a fraction has no negative zero.
  fc.assert(fc.property(decimal, (text) => toNumber(parseDecimal(text)) === Number(text) + 0));
});

test("every finite double survives the way through its own text", () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true, min: 1e-200, max: 1e200 });
  fc.assert(
    fc.property(double, (value) => toNumber(parseDecimal(String(value).replace("e+", "e"))) === value),
  );
});

test.each([
  ["0.3", "0.1", 0.2],
  ["1000000.000001", "1000000", 0.000001],
  ["0.1", "0.30", -0.2],
  ["5", "5.000", 0],
])("%p less %p is %p, without a float's remainder", (a, b, expected) => {
  expect(toNumber(difference(parseDecimal(a), parseDecimal(b)))).toBe(expected);
});

test("a ratio is rounded once", () => {
  const small = fc.integer({ min: 1, max: 2 ** 31 });
  fc.assert(
    fc.property(
      small,
      small,
      (a, b) => toNumber(ratio(parseDecimal(`${a}`), parseDecimal(`${b}`))) === a / b,
    ),
  );
  expect(toNumber(ratio(parseDecimal("0.3"), parseDecimal("3"), 1000n))).toBe(100);
  expect(toNumber(ratio(parseDecimal("1"), parseDecimal("-4")))).toBe(-0.25);
});

test("nothing divided by zero or unknown is a number", () => {
  expect(ratio(parseDecimal("1"), ZERO)).toBeNull();
  expect(ratio(null, parseDecimal("1"))).toBeNull();
  expect(toNumber(null)).toBeNull();
});

test.each(["NaN", "Infinity", "", "1,5", "0x10"])("%p is refused, not read as a number", (text) => {
  expect(() => parseDecimal(text)).toThrow(RangeError);
});
