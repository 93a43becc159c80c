import type { PriceRow, PriceSnapshot } from "./schema/records.ts";

const ROW = /^([a-z0-9_]+) (-?\d+) ([\d.]+)$/;
const LATER = "repriced ";
const HOUR = "hour ";

/**
 * A price snapshot as stored with a record: its lines, then the origin of the prices, such as
 * `input 17 0.00000015|output 55 0.0000006|list:openai/gpt-4o-mini`. A JSON object would be nearly three
 * times as long, and add a third to what a record costs Postgres.
 */
export function priceText({ entry, rows, hourUsd, repricedAt }: PriceSnapshot): string {
  let text = "";
  for (const { unit, count, usdPerUnit } of rows) text += `${unit} ${count} ${usdPerUnit}|`;
  if (hourUsd !== undefined) text += `${HOUR}${hourUsd}|`;
  if (repricedAt !== undefined) text += `${LATER}${repricedAt}|`;
  return text + entry;
}

export function readPrice(stored: string | null): PriceSnapshot | null {
  if (stored === null) return null;
  const rows: PriceRow[] = [];
  let rest = stored;
  const more: Pick<PriceSnapshot, "hourUsd" | "repricedAt"> = {};
  for (let end = rest.indexOf("|"); end >= 0; end = rest.indexOf("|")) {
    const line = rest.slice(0, end);
    const [, unit, count, usdPerUnit] = ROW.exec(line) ?? [];
    if (unit && usdPerUnit) rows.push({ unit, count: Number(count), usdPerUnit });
    else if (line.startsWith(LATER)) more.repricedAt = line.slice(LATER.length);
    else if (line.startsWith(HOUR)) more.hourUsd = line.slice(HOUR.length);
    else break;
    rest = rest.slice(end + 1);
  }
  return { entry: rest, rows, ...more };
}
