import fc from "fast-check";

const blanks = fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "\r"), maxLength: 3 });

/** A JSON string as some writer would put it: any character may be escaped in any way that JSON has. */
const stringText = (of: fc.Arbitrary<string>) =>
  fc.tuple(of, fc.infiniteStream(fc.nat(3))).map(([text, styles]) => {
    const units = [...text].map((character) => escaped(character, styles.next().value ?? 0));
    return `"${units.join("")}"`;
  });

function escaped(character: string, style: number): string {
  const must = /["\\\p{Cc}\p{Cs}]/u.test(character);
  if (!must && style > 0) return character;
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** Numbers that do not survive a parse and a print. */
const numberText = fc.oneof(
  fc.constantFrom("0", "-0", "1.0", "1e400", "12345678901234567890", "-1.5E-7", "0.10", "2e+3"),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);

const anyString = stringText(fc.string({ unit: "binary", maxLength: 12 }));

const valueText: fc.Arbitrary<string> = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("true", "false", "null"),
    numberText,
    anyString,
    tie("list"),
    tie("object"),
  ),
  list: fc
    .array(fc.tuple(blanks, tie("value"), blanks), { maxLength: 4 })
    .map((items) => `[${items.map((item) => item.join("")).join(",")}]`),
  object: fc
    .array(fc.tuple(blanks, anyString, blanks, tie("value"), blanks), { maxLength: 4 })
    .map((members) => objectText(members, "")),
})).value;

type MemberText = [before: string, key: string, between: string, value: string, after: string];

const objectText = (members: readonly MemberText[], empty: string): string =>
  members.length === 0
    ? `{${empty}}`
    : `{${members.map(([before, key, between, value, after]) => `${before}${key}${between}:${between}${value}${after}`).join(",")}}`;

const nameText = (names: readonly string[]) =>
  fc.oneof(
    { weight: 3, arbitrary: stringText(fc.constantFrom(...names)) },
    { weight: 1, arbitrary: anyString },
  );

/** The text of a JSON object, whose members are often called one of `names`, several times and escaped too. */
export const bodyText = (names: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      blanks,
      fc.array(fc.tuple(blanks, nameText(names), blanks, valueText, blanks) as fc.Arbitrary<MemberText>, {
        maxLength: 7,
      }),
      blanks,
      blanks,
    )
    .map(([before, members, empty, after]) => `${before}${objectText(members, empty)}${after}`);

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
