import type { Decomposition } from "#shared/report.ts";
import { signed, usd } from "../format.ts";
import { causesOf } from "./causes.ts";

/** A bar of a waterfall, in USD. */
export type WaterfallStep = {
  label: string;
  from: number;
  to: number;
  kind: "total" | "more-cost" | "less-cost";
  text: string;
};

type Ends = { before: readonly [label: string, usd: number]; now: readonly [label: string, usd: number] };

/** The sum before, each cause where the one before it ended, and the sum now. A cause that changed nothing has no bar. */
export function stepsBetween(
  { before, now }: Ends,
  causes: readonly { label: string; usd: number }[],
): WaterfallStep[] {
  const total = ([label, to]: Ends["now"]): WaterfallStep => ({
    label,
    from: 0,
    to,
    kind: "total",
    text: usd(to),
  });
  let at = before[1];
  const bars = causes
    .filter(({ usd: it }) => it !== 0)
    .map(({ label, usd: change }): WaterfallStep => {
      const from = at;
      at += change;
      const kind = change > 0 ? "more-cost" : "less-cost";
      return { label, from, to: at, kind, text: signed(usd(change), change) };
    });
  return [total(before), ...bars, total(now)];
}

/** From the cost before to the cost now. */
export const stepsOf = (parts: Decomposition, before: string, now: string): WaterfallStep[] =>
  stepsBetween({ before: [before, parts.previousUsd], now: [now, parts.currentUsd] }, causesOf(parts));
