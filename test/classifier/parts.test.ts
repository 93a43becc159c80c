import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fitSigmoid, probabilityOf, quantile } from "#gateway/classifier/calibration.ts";
import { compileLexicon, matchCues } from "#gateway/classifier/cues.ts";
import { featuresOf } from "#gateway/classifier/features.ts";
import { isTemplate, SEEDS, TASK_KINDS, templateFor } from "#gateway/classifier/kinds.ts";
import { marksOf } from "#gateway/classifier/marks.ts";
import { clip, normalise, readText, wordAt, wordsOf, zoneOf } from "#gateway/classifier/text.ts";

describe("reading a text", () => {
  test("every text is cut to 2,001 characters before anything else costs time", () => {
    fc.assert(fc.property(fc.string({ maxLength: 5000 }), (text) => clip(text).length <= 2001));
    expect(clip("a".repeat(1_000_000)).length).toBe(2001);
  });

  test("full-width letters, case and digits are folded", () => {
    expect(normalise("ＡＢＣ Straße 1234 and ٣٤")).toBe("abc straße 0 and 0");
  });

  test("Han, Kana and Thai are read one character at a time, Hangul and Latin by words", () => {
    const words = wordsOf("翻译this为 한국어 ไทย");
    const texts = Array.from(words.hashes, (_, at) => wordAt(words, at));
    expect(texts).toEqual(["翻", "译", "this", "为", "한국어", "ไ", "ท", "ย"]);
  });

  test("the instruction zone ends where pasted material begins, and keeps the end", () => {
    const text = `please shorten the report below\n\n${"material ".repeat(100)}\nuse plain words`;
    const zone = zoneOf(text);
    expect(zone.startsWith("please shorten the report below\n")).toBe(true);
    expect(zone.endsWith("use plain words")).toBe(true);
    expect(zone.length).toBeLessThan(270);
  });

  test("features are the same every time, distinct, and bounded", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 3000 }), (text) => {
        const one = featuresOf(text);
        expect(Bun.deepEquals(featuresOf(text), one)).toBe(true);
        expect(new Set(one.hashes).size).toBe(one.hashes.length);
        expect(one.hashes.length).toBeLessThanOrEqual(16_384);
      }),
      { numRuns: 20 },
    );
  });

  test("naming the sources of features changes none of them", () => {
    const { sources, ...explained } = featuresOf("Translate this: bonjour", true);
    expect(sources.length).toBe(explained.hashes.length);
    expect(featuresOf("Translate this: bonjour")).toEqual({ ...explained, sources: [] });
  });
});

describe("what words mean", () => {
  const likeness = (one: string, other: string) => {
    const [a, b] = [featuresOf(one).meaning, featuresOf(other).meaning];
    return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  };

  test("words used alike are nearer than words that are not", () => {
    expect(likeness("my dog", "a cat")).toBeGreaterThan(likeness("my dog", "an invoice"));
    expect(likeness("pay the bill", "invoice payment")).toBeGreaterThan(likeness("pay the bill", "violin"));
  });

  test("texts without a known word mean nothing rather than anything", () => {
    expect([...featuresOf("把这句话翻译成英文").meaning].every((value) => value === 0)).toBe(true);
  });
});

describe("cues", () => {
  const lexicon = compileLexicon([
    { short: ["summar", "要約"], whole: ["java$"], phrase: ["how do you say"] },
  ]);
  const found = (text: string) => matchCues(lexicon, readText(text).zone).map(({ concept }) => concept);

  test("a stem matches where a word begins and nowhere else", () => {
    expect(found("Summarising it")).toContain("short");
    expect(found("a resummary")).not.toContain("short");
    expect(found("これを要約して")).toContain("short");
  });

  test("a whole word does not match a longer one", () => {
    expect(found("in Java, please")).toContain("whole");
    expect(found("in JavaScript")).not.toContain("whole");
  });

  test("two cues together are a cue of their own", () => {
    expect(found("how do you say that in java")).toContain("phrase+whole");
  });
});

describe("marks of shape", () => {
  test("prose with a colon and brackets is not taken for code", () => {
    expect(marksOf("For the party (on Friday): bring cake; from Anna and or Ben.")).not.toContain(
      "code-like line",
    );
    expect(marksOf("why?\nfor (let i = 0; i < n; i++) {")).toContain("code-like line");
  });
});

describe("hostile texts", () => {
  const units = {
    letters: "a",
    "dotted letters": "a.",
    digits: "1",
    "digits and blanks": "1 ",
    "line ends": "\n",
    blanks: " ",
    "blank lines": " \n",
    "carriage returns": "\r",
    Chinese: "中",
    "mixed scripts": "中中中aaa",
    "a keyword a line": "if a\n",
    "returned sentences": "return a.\n",
    assignments: "const a=b ",
    tags: "<a\n",
    "empty items": "-\n",
    choices: "A. ",
    questions: "? ",
    quotes: '"',
  };
  const starts = ["", "const a=", "import ", "- ", "?", "中中中", "1"];

  /** The least processor time of several runs: what else runs on the machine adds to it and never takes away. */
  const costOf = (text: string) => {
    const costs = Array.from({ length: 3 }, () => {
      const from = process.cpuUsage();
      for (let run = 0; run < 2; run++) marksOf(text);
      const { user, system } = process.cpuUsage(from);
      return user + system;
    });
    return Math.min(...costs);
  };

  for (const [name, unit] of Object.entries(units)) {
    test(`${name}: marks cost no more a character in a long text`, () => {
      for (const start of starts) {
        const textOf = (length: number) => `${start}${unit.repeat(length / unit.length)}!.`;
        // Sixteen times the text costs 16 times as much if the cost is linear, 256 times if it is quadratic.
        expect(costOf(textOf(16_000)) / Math.max(costOf(textOf(1000)), 100)).toBeLessThan(80);
      }
    });
  }

  test("a character that folds to eighteen does not make the text longer", () => {
    expect(readText("\ufdfa".repeat(100_000)).full.length).toBeLessThanOrEqual(2001);
  });
});

describe("marks of shape by example", () => {
  const cases: Record<string, string[]> = {
    "inline code": ["call `run` now", "the run() of it", "see main.py there", "in snake_case"],
    formula: ["12 / 3", "x = 2y", "a 4 × 5 grid", "n ≤ m", "2*(3)"],
    "many digits": ["1 2 3 4 5 6 7 8", "on 12345678", "1 apple, 2 pears, 3 plums, 4 figs, 5 kiwis, 6, 7, 8"],
    "list of lines": ["to buy\n- milk\n- bread", "so:\n1. one\n2) two", "also\n \t• eins\n • zwei"],
    "choices to pick from": ["which?\nA) red\nB) blue", "A. rot B ： blau"],
    "not Latin": ["добрый день", "그런가", "ขอบคุณ"],
    "quoted text": ['say "no more than this" to', "« une phrase entière »"],
  };
  for (const [mark, texts] of Object.entries(cases)) {
    test(mark, () => {
      for (const text of texts) expect(marksOf(text) as string[]).toContain(mark);
    });
  }

  test("a Greek capital is no formula, and a curly quotation mark no other script", () => {
    expect(marksOf("Πόσα 12")).not.toContain("formula");
    expect(marksOf("it’s — fine")).not.toContain("not Latin");
  });
});

describe("calibration", () => {
  test("a higher score never means less confidence", () => {
    const trials = fc.array(
      fc.record({ score: fc.double({ min: -3, max: 3, noNaN: true }), correct: fc.boolean() }),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(trials, (some) => {
        const sigmoid = fitSigmoid(some);
        expect(sigmoid.slope).toBeGreaterThan(0);
        expect(probabilityOf(sigmoid, 1)).toBeGreaterThanOrEqual(probabilityOf(sigmoid, -1));
      }),
    );
  });

  test("a twentieth of the values lie under the 5 % quantile", () => {
    const values = Array.from({ length: 100 }, (_, at) => at);
    expect(values.filter((value) => value < quantile(values, 0.05)).length).toBe(5);
  });
});

describe("what is built in", () => {
  test("every kind has a template that takes it, and only templates take kinds", () => {
    const chat = new Set(["chat"]);
    for (const kind of TASK_KINDS)
      expect(isTemplate(templateFor(kind, new Set(TASK_KINDS)) ?? templateFor(kind, chat) ?? "")).toBe(true);
    expect(templateFor("coding", chat)).toBeNull();
  });

  test("at least 1,500 examples in at least 12 languages, each text once", () => {
    expect(SEEDS.length).toBeGreaterThanOrEqual(1500);
    expect(new Set(SEEDS.map(({ language }) => language)).size).toBeGreaterThanOrEqual(12);
    expect(new Set(SEEDS.map(({ text }) => text)).size).toBe(SEEDS.length);
  });
});
