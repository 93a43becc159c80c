import { describe, expect, test } from "bun:test";
import { checkText, type Stamp } from "#github-app/feedback/check-text.ts";
import { COMMENT_MARKER, type CommentFacts, commentText } from "#github-app/feedback/comment-text.ts";
import { SESSION_LINE_DIAGNOSTICS } from "#shared/session-line.ts";
import { diagnosticMeanings } from "#shared/session-line-meaning.ts";
import { usdText } from "#shared/usd-text.ts";

const stamp = (over: Partial<Stamp>): Stamp => ({
  sessionIds: [],
  diagnostics: [],
  known: false,
  notes: [],
  ...over,
});

describe("a check run", () => {
  test.each([
    [stamp({}), "neutral", "Not stamped", "Add the line `Gateway-Session: <session id>`"],
    [stamp({ sessionIds: ["a"], known: true }), "success", "Stamped", "names session `a`"],
    [stamp({ sessionIds: ["a"] }), "neutral", "Unknown session", "`x-session-id: a`"],
    [stamp({ sessionIds: ["a", "b"] }), "neutral", "2 different sessions", "`a`, `b`"],
  ] as const)("says of %j: %s, %s", (it, conclusion, title, summary) => {
    expect(checkText(it)).toMatchObject({ conclusion, title });
    expect(checkText(it).summary).toContain(summary);
  });

  test("names the fault of every line that is none, in words", () => {
    for (const name of SESSION_LINE_DIAGNOSTICS) {
      const { summary } = checkText(stamp({ diagnostics: [name] }));
      expect(summary.split("\n\n")).toHaveLength(2);
      expect(summary).not.toContain(name);
    }
    expect(diagnosticMeanings(["of_another_version"])).toEqual([]);
  });
});

const NO_LATER = { lastAt: null, isOpen: false };

describe("a comment", () => {
  const facts = (over: Partial<CommentFacts>): CommentFacts => ({
    link: "joined",
    session: "s",
    figures: {
      requests: 1,
      costUsd: "0.5",
      isLowerBound: false,
      isSplit: false,
      ...NO_LATER,
      subscription: null,
    },
    sharedBy: 1,
    ...over,
  });
  test.each([
    [{}, "**AI cost of this pull request: $0.50** (1 call of session `s`)"],
    [
      { figures: { requests: 1234, costUsd: "0.021719", isLowerBound: true, subscription: null } },
      "**AI cost of this pull request: at least $0.0217** (1,234 calls of session `s`)\n\nThe cost is a lower bound: some calls have no known cost, or are not linked to this pull request.",
    ],
    [
      { figures: { requests: 2, costUsd: null, isLowerBound: true, subscription: null } },
      "The cost of this pull request is not known: its session `s` made 2 calls without a known cost.",
    ],
    [
      { sharedBy: 3 },
      "**AI cost of this pull request: $0.50** (1 call of session `s`)\n\n3 merged pull requests name this session. Each of them shows its whole cost, which reports count once.",
    ],
    [
      {
        sharedBy: 2,
        figures: { requests: 3, costUsd: "0.5", isLowerBound: true, isSplit: true, subscription: null },
      },
      "**AI cost of this pull request: at least $0.50** (3 calls of session `s`)\n\n2 merged pull requests name this session. Each of them costs the calls that worked on its branch.\n\nThe cost is a lower bound: some calls have no known cost, or are not linked to this pull request.",
    ],
    [{ link: "conflict", session: null }, expect.stringContaining("more than one session")],
    [{ link: "unknown_session", figures: null }, expect.stringContaining("no call of the session")],
  ] as [Partial<CommentFacts>, string][])("of %j", (over, text) => {
    const [marker, ...rest] = commentText(facts(over)).split("\n");
    expect(marker).toBe(COMMENT_MARKER);
    expect(rest.join("\n")).toEqual(text);
  });

  test.each([
    ["0", "$0.00"],
    ["0.00001", "under $0.0001"],
    ["1234.5", "$1,234.50"],
    ["99999999999999999999.12345", "$99,999,999,999,999,999,999.1235"],
  ])("%s USD reads %s", (exact, text) => {
    expect(usdText(exact)).toBe(text);
  });
});
