import { isRecord, parsedJson } from "#shared/json.ts";
import { decide, scoreText } from "./decide.ts";
import type { Model } from "./model.ts";

/** A text and the route it should go to; null: it should go to none (the default route). */
export type LabelledText = { text: string; route: string | null };

type Evaluation = {
  texts: number;
  /** Share of texts with a route that went to it: threshold included, and by the best route alone. */
  accuracy: number | null;
  accuracyBest: number | null;
  /** Share of foreign texts that fell to the default route, and of fitting ones that did. */
  foreignCaught: number | null;
  fittingLost: number | null;
  /** `confusion[expected][given]`, counts; `(default)` means no route. */
  confusion: Record<string, Record<string, number>>;
  /** If the threshold lost this share of the fitting texts, this share of the foreign ones would be caught. */
  curve: { fittingLost: number; foreignCaught: number; threshold: number }[];
};

const DEFAULT_LABEL = "(default)";
const CURVE = [0.01, 0.02, 0.05, 0.1, 0.2];

type Outcome = { expected: string | null; best: string | null; score: number; kept: boolean };

/** The share of outcomes for which `holds`; null if there are none. */
const share = (whole: readonly Outcome[], holds: (one: Outcome) => boolean) =>
  whole.length === 0 ? null : whole.filter(holds).length / whole.length;

function outcomeOf(model: Model, { text, route }: LabelledText): Outcome {
  const { best, score } = decide(model, scoreText(model, text), null);
  return { expected: route, best: model.classes[best]?.name ?? null, score, kept: score >= model.threshold };
}

function confusionOf(outcomes: readonly Outcome[]): Evaluation["confusion"] {
  const confusion: Evaluation["confusion"] = {};
  for (const { expected, best, kept } of outcomes) {
    const row = confusion[expected ?? DEFAULT_LABEL] ?? {};
    const given = kept && best !== null ? best : DEFAULT_LABEL;
    row[given] = (row[given] ?? 0) + 1;
    confusion[expected ?? DEFAULT_LABEL] = row;
  }
  return confusion;
}

function curveOf(fitting: readonly Outcome[], foreign: readonly Outcome[]): Evaluation["curve"] {
  if (fitting.length === 0 || foreign.length === 0) return [];
  const sorted = fitting.map(({ score }) => score).sort((a, b) => a - b);
  return CURVE.map((lost) => {
    const threshold = sorted[Math.floor(lost * sorted.length)] ?? 0;
    const caught = foreign.filter(({ score }) => score < threshold);
    return { fittingLost: lost, foreignCaught: caught.length / foreign.length, threshold };
  });
}

/** Measures a model on an administrator's own labelled texts. Pure; the texts are not kept. */
export function evaluateRoutes(model: Model, texts: readonly LabelledText[]): Evaluation {
  const outcomes = texts.map((one) => outcomeOf(model, one));
  const fitting = outcomes.filter(({ expected }) => expected !== null);
  const foreign = outcomes.filter(({ expected }) => expected === null);
  return {
    texts: texts.length,
    accuracy: share(fitting, ({ expected, best, kept }) => kept && expected === best),
    accuracyBest: share(fitting, ({ expected, best }) => expected === best),
    foreignCaught: share(foreign, ({ kept }) => !kept),
    fittingLost: share(fitting, ({ kept }) => !kept),
    confusion: confusionOf(outcomes),
    curve: curveOf(fitting, foreign),
  };
}

/** Reads JSON lines `{"text": …, "route": …}` (`label` is a synonym of `route`; null or absent: no route). Errors name the line. */
export function readLabelledTexts(lines: string): LabelledText[] {
  return lines.split("\n").flatMap((line, at) => {
    if (line.trim() === "") return [];
    // The parser's own message would quote the text.
    const value = parsedJson(line);
    if (!isRecord(value)) throw new Error(`line ${at + 1}: not a JSON object`);
    const route = value["route"] ?? value["label"] ?? null;
    if (typeof value["text"] !== "string" || (route !== null && typeof route !== "string")) {
      throw new Error(`line ${at + 1}: "text" must be a string and "route" a string or null`);
    }
    return [{ text: value["text"], route }];
  });
}

const percent = (share: number | null) => (share === null ? "–" : `${(100 * share).toFixed(1)} %`);

function confusionLines(confusion: Evaluation["confusion"]): string[] {
  const expected = Object.keys(confusion).sort();
  const given = [...new Set(expected.flatMap((name) => Object.keys(confusion[name] ?? {})))].sort();
  const width = Math.max(DEFAULT_LABEL.length, ...expected.map((name) => name.length)) + 2;
  const cell = (text: string | number) => String(text).slice(0, 11).padStart(12);
  return [
    `${"".padEnd(width)}${given.map(cell).join("")}`,
    ...expected.map(
      (name) => `${name.padEnd(width)}${given.map((one) => cell(confusion[name]?.[one] ?? 0)).join("")}`,
    ),
  ];
}

export function evaluationText(result: Evaluation): string {
  const lines = [
    `texts                              ${result.texts}`,
    `right, with the threshold          ${percent(result.accuracy)}`,
    `right, by the best route only      ${percent(result.accuracyBest)}`,
    `fitting texts sent to the default  ${percent(result.fittingLost)}`,
    `foreign texts sent to the default  ${percent(result.foreignCaught)}`,
    "",
    "expected (rows), chosen (columns)",
    ...confusionLines(result.confusion),
  ];
  if (result.curve.length > 0) {
    lines.push("", "share of fitting texts lost, and share of foreign texts caught at that cost");
    for (const { fittingLost, foreignCaught } of result.curve) {
      lines.push(`  ${percent(fittingLost).padStart(7)}  ${percent(foreignCaught).padStart(7)}`);
    }
  }
  return lines.join("\n");
}
