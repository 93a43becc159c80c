import { MOVE_NAMES, MOVE_WORDS, type Movement } from "#shared/movement.ts";
import { signedText } from "./figure-text.ts";
import { tableText } from "./table.ts";

/** Rows of models that are printed; `POST /v1/reports/query` has all. */
const ROWS_MAX = 10;

export function movementText(moved: Movement): string {
  const text = (value: string) => signedText(Number(value), "USD");
  const usd = moved.floor ? "≥ USD" : "USD";
  const parts = [
    ["Volume", moved.volume],
    ["Mix", moved.mix],
    ["Rate", moved.rate],
    ...MOVE_NAMES.map((name) => [`  ${MOVE_WORDS[name]}`, moved.parts[name]] as const),
    ["Change in cost", moved.delta_usd],
  ] as const;
  const rows = moved.rows
    .slice(0, ROWS_MAX)
    .map((row) => [
      `${row.model}, ${row.kind}${row.tier === "(none)" ? "" : `, ${row.tier}`}`,
      ...[row.delta_usd, row.volume, row.mix, row.rate].map(text),
    ]);
  return [
    tableText(
      ["Rate, mix and volume", usd],
      parts.map(([name, value]) => [name, text(value)]),
      (i) => i === 1,
    ),
    tableText(["Model and unit", "Change", "Volume", "Mix", "Rate"], rows, (i) => i > 0),
  ].join("\n\n");
}
