import { describe, expect, test } from "bun:test";
import { decide } from "#gateway/classifier/decide.ts";
import { TASK_KINDS } from "#gateway/classifier/kinds.ts";
import type { ClassName } from "#gateway/classifier/model.ts";

const classes: ClassName[] = [
  { kind: "route", name: "code" },
  { kind: "route", name: "words" },
];
/** `code` takes the first kind, `words` the second, none the others. */
const takers = TASK_KINDS.map((_, at) => [["code"], ["words"]][at] ?? []);
const like = (kind: number) => TASK_KINDS.map((_, at) => (at === kind ? 0.5 : -1));
const scored = (kind: number) => ({ scores: [0.2, -0.4], kinds: like(kind) });
const scoreOf = (kind: number, allowed: ReadonlySet<string> | null, it = { classes, takers }) =>
  decide(it, scored(kind), allowed).score;

describe("kinds of task in a decision", () => {
  test("a text of a kind that no route takes scores lower, and chooses the same route", () => {
    expect(scoreOf(5, null)).toBeLessThan(scoreOf(0, null));
    expect(decide({ classes, takers }, scored(5), null).best).toBe(0);
  });

  test("a kind that only routes outside the key's scope take is as foreign as one that none takes", () => {
    const words = new Set(["words"]);
    expect(scoreOf(0, words)).toBeLessThan(scoreOf(1, words));
    expect(scoreOf(0, words)).toBeCloseTo(scoreOf(5, words), 10);
  });

  test("count nothing where nothing is known of them, or routes take all", () => {
    for (const unknown of [[], TASK_KINDS.map(() => ["code"])]) {
      expect(scoreOf(0, null, { classes, takers: unknown })).toBe(
        scoreOf(5, null, { classes, takers: unknown }),
      );
    }
  });
});
