import { DEFAULT_LABEL, type Evaluation } from "./evaluate.ts";

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

/** An evaluation as lines for a terminal. */
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
