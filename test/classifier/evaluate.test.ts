import { describe, expect, test } from "bun:test";
import { evaluateRoutes, evaluationText, readLabelledTexts } from "#gateway/classifier/evaluate.ts";
import { hotel } from "./models.ts";

describe("an administrator's labelled texts", () => {
  const texts = [
    { text: "a double room for Sunday please", route: "booking" },
    { text: "cancel the reservation of my room", route: "booking" },
    { text: "a coffee and a sandwich to room 3", route: "kitchen" },
    { text: "Write a Python class for a queue", route: null },
    { text: "Find the derivative of x^3", route: null },
  ];
  const result = evaluateRoutes(hotel(), texts);

  test("every text stands in the confusion matrix once", () => {
    const cells = Object.values(result.confusion).flatMap((row) => Object.values(row));
    expect(cells.reduce((sum, count) => sum + count, 0)).toBe(texts.length);
    expect(Object.keys(result.confusion).sort()).toEqual(["(default)", "booking", "kitchen"]);
  });

  test("accuracy counts fitting texts alone, and foreign ones are counted apart", () => {
    expect(result).toMatchObject({ texts: 5, accuracyBest: 1, foreignCaught: 1 });
    expect(result.curve.at(-1)?.foreignCaught).toBe(1);
  });

  test("shares over no texts are unknown, not 0", () => {
    expect(evaluateRoutes(hotel(), [])).toMatchObject({
      accuracy: null,
      foreignCaught: null,
      fittingLost: null,
      curve: [],
    });
  });

  test("prints names and shares, and none of the texts", () => {
    const printed = evaluationText(result);
    expect(printed).toContain("booking");
    expect(printed).toContain("100.0 %");
    for (const { text } of texts) expect(printed).not.toContain(text);
  });
});

describe("a file of labelled texts", () => {
  test("takes route or label, null and absent for no route, and blank lines for nothing", () => {
    const lines =
      '{"text":"a","route":"x"}\n\n{"text":"b","label":"y"}\n{"text":"c","route":null}\n{"text":"d"}\n';
    expect(readLabelledTexts(lines)).toEqual([
      { text: "a", route: "x" },
      { text: "b", route: "y" },
      { text: "c", route: null },
      { text: "d", route: null },
    ]);
  });

  test("a bad line is named by its number and never quoted", () => {
    expect(() => readLabelledTexts('{"text":"a"}\nsecret words')).toThrow("line 2: not a JSON object");
    expect(() => readLabelledTexts('{"text":7}')).toThrow(/^line 1: "text" must be a string/);
  });
});
