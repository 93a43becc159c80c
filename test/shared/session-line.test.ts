import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BODY_CHARACTERS_MAX } from "#shared/markdown-lines.ts";
import { readSessionLine, SESSION_LINE_DIAGNOSTICS, type SessionLine } from "#shared/session-line.ts";
import { cpuMs } from "#test/support/cpu-time.ts";

/** Processor time for the longest body: some 5 ms where reading is linear, many seconds where it is quadratic. */
const LINEAR_MS = 500;
const LEGAL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
const NBSP = "\u00a0";
const ZWSP = "\u200b";

const read = (body: string | null) => {
  const { ids, diagnostics } = readSessionLine(body);
  return { ids: [...ids] as string[], diagnostics: [...diagnostics] as string[] };
};
const one = (id: string, ...diagnostics: string[]) => ({ ids: [id], diagnostics });
const none = (...diagnostics: string[]) => ({ ids: [], diagnostics });

describe("the line is accepted", () => {
  const cases: [name: string, body: string][] = [
    ["alone", "Gateway-Session: abc"],
    ["as the last line without a line end", "Fixes a bug.\n\nGateway-Session: abc"],
    ["with CRLF line ends, as GitHub's web form sends them", "Fixes a bug.\r\n\r\nGateway-Session: abc\r\n"],
    ["with lone carriage returns", "Fixes a bug.\r\rGateway-Session: abc\r"],
    ["with trailing blanks and tabs", "Gateway-Session: abc \t  "],
    ["without a blank after the colon", "Gateway-Session:abc"],
    ["with tabs after the colon", "Gateway-Session:\t\tabc"],
    ["with its name in lower case", "gateway-session: abc"],
    ["with its name in upper case", "GATEWAY-SESSION: abc"],
    ["with three leading spaces", "   Gateway-Session: abc"],
    ["directly below a paragraph", "Some text\nGateway-Session: abc\nmore text"],
    ["behind a closed fence", "```\ncode\n```\nGateway-Session: abc"],
    ["behind a closed comment", "<!-- template\nhint -->\nGateway-Session: abc"],
    ["behind a block quote", "> quoted\n\nGateway-Session: abc"],
    ["below a code span that talks of comments", "Handles `<!--` now\nGateway-Session: abc"],
    ["in the paragraph after one that never closes its comment", "a <!-- b\n\nGateway-Session: abc"],
    ["behind a list item whose fence was left open", "- ```\n  code\nGateway-Session: abc"],
    [
      "behind a list item with a fence on a line of its own, left open",
      "- item\n\n  ```\n  code\n\nGateway-Session: abc",
    ],
    [
      "behind an item of a nested list whose fence was left open",
      "1. a\n   - b\n\n   ```\n   x\nGateway-Session: abc",
    ],
    ["behind a lazy line of an item whose fence was left open", "- a\nlazy\n  ```\nGateway-Session: abc"],
    ["behind an inline fence-like code span", "```not a fence``` text\nGateway-Session: abc"],
  ];
  test.each(cases)("%s", (_, body) => {
    expect(read(body)).toEqual(one("abc"));
  });

  test("with every legal character, up to 64 of them", () => {
    const ids = LEGAL.match(/.{1,64}/g) ?? [];
    for (const id of ids) expect(read(`Gateway-Session: ${id}`)).toEqual(one(id));
    expect(read(`Gateway-Session: ${"x".repeat(64)}`)).toEqual(one("x".repeat(64)));
  });
});

describe("ids", () => {
  test("the same id twice is one", () => {
    expect(readSessionLine("Gateway-Session: a\nGateway-Session: a").verdict).toBe("one");
  });

  test("two different ids are a conflict", () => {
    expect(readSessionLine("Gateway-Session: b\nGateway-Session: a")).toEqual({
      ids: ["a", "b"],
      verdict: "conflict",
      diagnostics: [],
    } as unknown as SessionLine);
  });

  test("ids that differ in case only are two", () => {
    expect(readSessionLine("Gateway-Session: abc\nGateway-Session: ABC").verdict).toBe("conflict");
  });

  test("an id of 65 characters is dropped whole, and a valid one beside it counts", () => {
    const long = `Gateway-Session: ${"x".repeat(65)}`;
    expect(read(long)).toEqual(none("id_too_long"));
    expect(read(`${long}\nGateway-Session: ok`)).toEqual(one("ok", "id_too_long"));
  });

  test("a null or empty body names none", () => {
    expect(readSessionLine(null)).toEqual({ ids: [], verdict: "none", diagnostics: [] });
    expect(readSessionLine("")).toEqual({ ids: [], verdict: "none", diagnostics: [] });
  });
});

describe("the line is ignored", () => {
  const cases: [name: string, body: string, ...diagnostics: string[]][] = [
    ["in a block quote, which quotes another pull request", "> Gateway-Session: x"],
    ["in a nested block quote", " > > Gateway-Session: x"],
    ["as a list item", "- Gateway-Session: x", "not_plain"],
    ["as a numbered item", "1. Gateway-Session: x", "not_plain"],
    ["with its name in bold", "**Gateway-Session:** x", "not_plain"],
    ["with its name in bold before the colon", "**Gateway-Session**: x", "not_plain"],
    ["as a heading", "### Gateway-Session: x", "not_plain"],
    ["in a code span", "`Gateway-Session: x`", "not_plain"],
    ["with its id in backticks", "Gateway-Session: `x`", "illegal_id"],
    ["with a placeholder", "Gateway-Session: <session_id>", "illegal_id"],
    ["with an address", "Gateway-Session: https://example.com/x", "illegal_id"],
    ["with a list of ids", "Gateway-Session: a,b", "illegal_id"],
    ["with two words", "Gateway-Session: a b", "illegal_id"],
    ["with nothing", "Gateway-Session:   ", "illegal_id"],
    ["with the id on the next line", "Gateway-Session:\nabc", "illegal_id"],
    ["in fenced code", "```\nGateway-Session: x\n```", "in_code"],
    ["in fenced code with tildes", "~~~ text\nGateway-Session: x\n~~~", "in_code"],
    ["in a fence that is never closed", "```\nGateway-Session: x", "in_code"],
    ["in a fence that a shorter one does not close", "````\n```\nGateway-Session: x\n````", "in_code"],
    ["in a fence that the other mark does not close", "```\n~~~\nGateway-Session: x\n```", "in_code"],
    [
      "in a fence on a line of its own inside a list item",
      "- item\n  ```\n  Gateway-Session: x\n  ```",
      "in_code",
    ],
    ["in a fence behind a list", "- item\n\n```\nGateway-Session: x", "in_code"],
    ["in an indented fence outside lists", "text\n  ```\nGateway-Session: x", "in_code"],
    ["in a fence behind a rule", "- - -\n  ```\nGateway-Session: x", "in_code"],
    ["in a fence behind a number in a paragraph", "text\n2. more\n   ```\nGateway-Session: x", "in_code"],
    ["in a fence inside a list item", "- ```\n  Gateway-Session: x\n  ```", "in_code"],
    ["indented by four spaces", "    Gateway-Session: x", "in_code"],
    ["indented by a tab", "\tGateway-Session: x", "in_code"],
    ["in a comment of one line", "<!-- Gateway-Session: x -->", "in_comment"],
    ["in a comment of several lines", "<!--\nGateway-Session: x\n\n-->", "in_comment"],
    ["in a comment that is never closed", "<!-- hint\n\nGateway-Session: x", "in_comment"],
    ["in a comment that began inside a paragraph", "text <!-- hint\nGateway-Session: x\n-->", "in_comment"],
    ["behind a no-break space", `Gateway-Session:${NBSP}x`, "illegal_id"],
    ["after a no-break space", `${NBSP}Gateway-Session: x`, "lookalike"],
    ["with a zero-width space in its id", `Gateway-Session: a${ZWSP}b`, "illegal_id"],
    ["with a zero-width space in its name", `Gateway-${ZWSP}Session: x`, "lookalike"],
    ["behind a byte-order mark", "\ufeffGateway-Session: x", "lookalike"],
    ["with a full-width colon", "Gateway-Session\uff1a x", "lookalike"],
    ["with an emoji for an id", "Gateway-Session: \u{1f680}", "illegal_id"],
    ["with a Cyrillic letter in its name", "G\u0430teway-Session: x", "lookalike"],
    ["with a Cyrillic letter in its id", "Gateway-Session: \u0430bc", "illegal_id"],
    ["with a long s in its name", "Gateway-\u017fession: x", "lookalike"],
    ["with U+2028 behind its id", "Gateway-Session: abc\u2028junk", "illegal_id"],
    ["with U+2029 behind its id", "Gateway-Session: abc\u2029", "illegal_id"],
    ["with a vertical tab behind its id", "Gateway-Session: abc\v", "illegal_id"],
    ["inside a sentence", "Set Gateway-Session: x in the body"],
    ["with another name", "Claude-Session: x"],
  ];
  test.each(cases)("%s", (_, body, ...diagnostics) => {
    expect(read(body)).toEqual(none(...diagnostics));
  });

  test("and does not void a real one", () => {
    for (const [, body] of cases) {
      const { ids } = read(`Gateway-Session: real\n\n${body}`);
      expect(ids).toEqual(["real"]);
    }
  });

  test("text in other scripts is no look-alike", () => {
    expect(read("这是一个很长的句子没有任何空格：内容")).toEqual(none());
  });
});

describe("a body over GitHub's limit", () => {
  const filler = (length: number) => `${"x".repeat(length - 1)}\n`;

  test("is read up to its last whole line, and a cut line gives no id", () => {
    const head = filler(BODY_CHARACTERS_MAX - 20);
    expect(read(`${head}Gateway-Session: abcdefgh`)).toEqual(none("body_too_long"));
    expect(read(`Gateway-Session: a\n${"x".repeat(BODY_CHARACTERS_MAX)}`)).toEqual(one("a", "body_too_long"));
  });

  test("counts characters, not code units", () => {
    const emoji = "\u{1f680}".repeat(BODY_CHARACTERS_MAX - 20);
    expect(read(`${emoji}\nGateway-Session: a`)).toEqual(one("a"));
  });

  test("a line that ends exactly at the limit counts", () => {
    const line = "Gateway-Session: a";
    const head = filler(BODY_CHARACTERS_MAX - line.length);
    expect(read(`${head}${line}`)).toEqual(one("a"));
    expect(read(`${head}${line}\nmore`)).toEqual(one("a", "body_too_long"));
  });
});

describe("properties", () => {
  const id = fc.string({ unit: fc.constantFrom(...LEGAL), minLength: 1, maxLength: 64 });
  const eol = fc.constantFrom("\n", "\r\n", "\r");
  const plainLine = fc.string({ unit: fc.constantFrom(..."abc XYZ.,-") }).map((text) => `t${text}`);

  test("order and line ends of plain lines change nothing, mixed ends neither", () => {
    const lines = fc.tuple(fc.array(id, { maxLength: 4 }), fc.array(plainLine)).chain(([ids, text]) => {
      const all = [...ids.map((it) => `Gateway-Session: ${it}`), ...text];
      return fc.record({
        ids: fc.constant(ids),
        lines: fc.shuffledSubarray(all, { minLength: all.length }),
        ends: fc.array(eol, { minLength: all.length, maxLength: all.length }),
      });
    });
    fc.assert(
      fc.property(lines, ({ ids, lines: all, ends }) => {
        const body = all.map((line, at) => line + ends[at]).join("");
        expect(read(body)).toEqual({ ids: [...new Set(ids)].sort(), diagnostics: [] });
      }),
    );
  });

  test("whatever the body, every id is legal and the verdict counts them", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "Gateway-Session:",
        " ",
        "\t",
        "```",
        "<!--",
        "-->",
        "> ",
        "    ",
        "\n",
        "\r",
        "\u2028",
      ),
      id,
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const { ids, verdict, diagnostics } = readSessionLine(pieces.join(""));
        for (const it of ids) expect(it).toMatch(/^[A-Za-z0-9._:-]{1,64}$/);
        expect(verdict).toBe((["none", "one"] as const)[ids.length] ?? "conflict");
        for (const it of diagnostics) expect(SESSION_LINE_DIAGNOSTICS).toContain(it);
      }),
      { numRuns: 300 },
    );
  });

  test("twice the body takes about twice the time, whatever is repeated in it", async () => {
    const pieces = fc.array(
      fc.constantFrom(
        "Gateway-Session:",
        "gateway-sessio",
        " ",
        "\t",
        "```",
        "`",
        "<!--",
        "-->",
        "- ",
        "\n",
        "x",
        "\u2028",
      ),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(pieces, async (repeated) => {
        const unit = repeated.join("");
        const body = unit.repeat(BODY_CHARACTERS_MAX / unit.length);
        expect(await cpuMs(() => readSessionLine(body))).toBeLessThan(LINEAR_MS);
      }),
      { numRuns: 15 },
    );
  });

  test("no body of GitHub's size takes longer than linear time", async () => {
    const size = BODY_CHARACTERS_MAX;
    const unfriendly = [
      "<!--".repeat(size / 4),
      "`".repeat(size),
      "- ".repeat(size / 2),
      "Gateway-Session: ".repeat(size / 17),
      `Gateway-Session:${" ".repeat(size - 20)}`,
      `${" ".repeat(size / 2)}Gateway-Session:`,
      "\n".repeat(size),
      "\u{1f680}".repeat(size),
      "Gateway-Session\n".repeat(size / 16),
      "1. ".repeat(size / 3),
    ];
    for (const body of unfriendly) {
      expect(await cpuMs(() => readSessionLine(body))).toBeLessThan(LINEAR_MS);
    }
  });
});
