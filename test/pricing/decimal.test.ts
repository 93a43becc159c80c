import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  decimalOfNumber,
  decimalQuotient,
  difference,
  formatDecimal,
  isOver,
  isZero,
  parseDecimal,
  plus,
  product,
  shiftDown,
  times,
  ZERO,
} from "#shared/decimal.ts";

const plain = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.nat({ max: 20 }))
  .map(([negative, digits, scale]) => ({ num: negative ? -digits : digits, den: 10n ** BigInt(scale) }));

test.each([
  ["0", "0"],
  ["3.0", "3"],
  ["0.00250", "0.0025"],
  ["1e-7", "0.0000001"],
  ["1.5E+3", "1500"],
  ["-0.5", "-0.5"],
  ["0.0000", "0"],
  ["12345678901234567890.12345", "12345678901234567890.12345"],
])("%s is written as %s", (text, written) => {
  expect(formatDecimal(parseDecimal(text))).toBe(written);
});

test.each(["", "1.", ".5", "NaN", "Infinity", "1,5", "0x10", " 1", "1e9999", "--1"])(
  "%p is no decimal",
  (text) => {
    expect(() => parseDecimal(text)).toThrow(RangeError);
  },
);

test("a price of the list is the decimal its author wrote, not the float's binary fraction", () => {
  expect(formatDecimal(decimalOfNumber(0.1))).toBe("0.1");
  expect(formatDecimal(decimalOfNumber(1e-8))).toBe("0.00000001");
  expect(formatDecimal(shiftDown(decimalOfNumber(3.75), 6))).toBe("0.00000375");
});

test("writing and reading a decimal gives it back", () => {
  fc.assert(
    fc.property(plain, (value) => formatDecimal(parseDecimal(formatDecimal(value))) === formatDecimal(value)),
  );
});

test("sums do not depend on order or grouping, and no digit is lost", () => {
  fc.assert(
    fc.property(plain, plain, plain, (a, b, c) => {
      expect(formatDecimal(plus(a, b))).toBe(formatDecimal(plus(b, a)));
      expect(formatDecimal(plus(plus(a, b), c))).toBe(formatDecimal(plus(a, plus(b, c))));
      expect(formatDecimal(difference(plus(a, b), b))).toBe(formatDecimal(a));
    }),
  );
});

test("a product is the sum of so many", () => {
  fc.assert(
    fc.property(plain, fc.nat({ max: 50 }), (value, count) => {
      const sum = Array.from({ length: count }).reduce<typeof value>((total) => plus(total, value), ZERO);
      expect(formatDecimal(times(value, count))).toBe(formatDecimal(sum));
    }),
  );
});

test("only whole counts are multiplied", () => {
  expect(() => times(parseDecimal("1"), 0.5)).toThrow(RangeError);
  expect(isZero(times(parseDecimal("1"), 0))).toBe(true);
});

test("of two decimals the larger is over the other, whatever their scale, and a quotient is not written", () => {
  fc.assert(
    fc.property(plain, plain, (a, b) => {
      expect(isOver(a, b)).toBe(formatDecimal(difference(b, a)).startsWith("-"));
    }),
  );
  expect(formatDecimal(product(parseDecimal("1.5"), parseDecimal("-0.02")))).toBe("-0.03");
  expect(() => formatDecimal({ num: 1n, den: 3n })).toThrow(RangeError);
});

test("a quotient that is a decimal is exact, and another is rounded at the last place of money", () => {
  const quotient = (a: string, b: string) => formatDecimal(decimalQuotient(parseDecimal(a), parseDecimal(b)));
  expect(quotient("0.00001125", "0.0000025")).toBe("4.5");
  expect(quotient("1", "3")).toBe(`0.${"3".repeat(24)}`);
  expect(quotient("2", "3")).toBe(`0.${"6".repeat(23)}7`);
  const some = fc.bigInt({ min: 1n, max: 10n ** 12n }).map((num) => ({ num, den: 10n ** 9n }));
  fc.assert(
    fc.property(some, some, (a, b) => {
      expect(formatDecimal(decimalQuotient(product(a, b), b))).toBe(formatDecimal(a));
    }),
  );
});
