import { describe, expect, test } from "bun:test";
import { classify, routeOf } from "#gateway/classifier/classify.ts";
import { cpuMs } from "#test/support/cpu-time.ts";
import { hotel, route, train } from "./models.ts";

const TEMPLATES = ["coding", "summarization", "translation", "extraction", "writing", "reasoning", "chat"];
const templates = train(...TEMPLATES.map((name) => route(name)));

describe("templates by name, without one example", () => {
  const cases: [text: string, route: string][] = [
    ["Write a Rust function that parses an IPv6 address", "coding"],
    ["¿Puedes escribir una consulta SQL que sume las ventas por mes?", "coding"],
    [
      "Summarise the minutes below in five bullet points:\n\nThe chair opened the meeting at nine.",
      "summarization",
    ],
    ["请总结下面这篇文章的主要观点", "summarization"],
    ["Translate into Danish: the shop is closed on Sundays", "translation"],
    ["Übersetze diesen Brief ins Italienische", "translation"],
    ["Extract every company name from this paragraph as JSON: Brand & Sons sued Halberd plc.", "extraction"],
    ["Write a short poem about the harbour at night", "writing"],
    ["Напиши рассказ о старом трамвае", "writing"],
    ["A jar holds 12 red and 8 blue beads. What is the probability of drawing a blue one?", "reasoning"],
    ["Hi there, how was your day?", "chat"],
    ["Why do stars twinkle?", "chat"],
  ];
  for (const [text, expected] of cases) {
    test(`"${text.slice(0, 40)}" goes to ${expected}`, () => {
      expect(classify(templates, text, null).candidates[0]?.route).toBe(expected);
    });
  }
});

describe("an administrator's own routes", () => {
  test("a text like the examples goes to their route, and says which example is nearest", () => {
    const answer = classify(hotel(), "I need a single room for Saturday", null);
    expect(answer.route).toBe("booking");
    expect(answer.why.nearest).toMatchObject({
      route: "booking",
      exampleId: expect.stringMatching(/^examples\/\d$/),
    });
    expect(answer.matched.length).toBeGreaterThan(0);
  });

  test("a text that no route was made for falls below the threshold and says what it looks like", () => {
    const answer = classify(hotel(), "Write a Python function that reverses a linked list", null);
    expect(answer.route).toBeNull();
    expect(answer.why.hidden).toBe("coding");
    expect(answer.reason).toContain("below");
    expect(answer.candidates.map(({ route: name }) => name).sort()).toEqual(["booking", "kitchen"]);
  });

  test("routes outside the allowed ones are neither chosen nor named", () => {
    const answer = classify(hotel(), "I need a single room for Saturday", new Set(["kitchen"]));
    expect(answer.candidates.map(({ route: name }) => name)).toEqual(["kitchen"]);
    expect(JSON.stringify(answer)).not.toContain("booking");
  });

  test("with no allowed route there is no route, no confidence and no candidate", () => {
    const answer = classify(hotel(), "I need a single room", new Set());
    expect(answer).toMatchObject({
      route: null,
      confidence: 0,
      candidates: [],
      why: { margin: 0, nearest: null },
    });
  });

  test("a route of one's own with keywords alone is found by them", () => {
    const model = train(
      route("plumbing", { keywords: ["tap", "pipe", "leak", "drain"] }),
      route("translation"),
    );
    expect(classify(model, "the pipe under the sink has a leak", null).candidates[0]?.route).toBe("plumbing");
  });
});

describe("the answer", () => {
  const texts = [
    "Fix this: def f(x) return x",
    "把这句话翻译成英文：你好",
    "Hello!",
    "?",
    "a".repeat(100_000),
    "\u0000\ud800 broken \udfff text",
    "Write a letter, then translate it into French and summarise it.",
  ];
  for (const text of texts) {
    test(`for "${text.slice(0, 24)}": shares and bias sum to the margin within 1e-3`, () => {
      const { why } = classify(templates, text, null);
      const shares = [...why.terms, ...why.concepts].reduce((sum, { weight }) => sum + weight, 0);
      expect(Math.abs(shares + why.other + why.bias - why.margin)).toBeLessThan(1e-3);
    });

    test(`for "${text.slice(0, 24)}": auto decides as the explanation says`, () => {
      const { route: explained, best, confidence } = classify(templates, text, null);
      expect(routeOf(templates, text, null)).toEqual({ route: explained, best, confidence });
    });
  }

  test("the margin is the distance of the first two candidates", () => {
    const { why, candidates } = classify(templates, "Translate this poem into Polish", null);
    expect(why.runnerUp).toBe(candidates[1]?.route ?? "");
    expect(why.margin).toBeCloseTo((candidates[0]?.score ?? 0) - (candidates[1]?.score ?? 0), 3);
  });

  test("the same text gets the same answer every time", () => {
    const once = classify(templates, "Plan a trip to Crete", null);
    expect(classify(templates, "Plan a trip to Crete", null)).toEqual(once);
  });

  test("a clear text is answered with more confidence than one that fits nothing", () => {
    const sure = classify(hotel(), "Please cancel my reservation for the double room", null).confidence;
    const unsure = classify(hotel(), "Solve 3x + 4 = 19 for x", null).confidence;
    expect(sure).toBeGreaterThan(unsure);
    expect(unsure).toBeLessThan(0.5);
  });
});

test("100,000 characters cost no more than a few milliseconds", async () => {
  const text = "Please summarise the following report about trams. ".repeat(2000);
  expect(await cpuMs(() => routeOf(templates, text, null), 20)).toBeLessThan(20);
});
