import type { Decomposition } from "#shared/report.ts";
import { signed, wholeUsd } from "../format.ts";
import { causesOf } from "./causes.ts";

/** A bar of a waterfall, in USD. */
export type WaterfallStep = {
  label: string;
  from: number;
  to: number;
  kind: "total" | "more-cost" | "less-cost";
  text: string;
};

/** The cost before, each cause where the one before it ended, and the cost now. A cause that changed nothing has no bar. */
export function stepsOf(parts: Decomposition, before: string, now: string): WaterfallStep[] {
  const steps: WaterfallStep[] = [
    { label: before, from: 0, to: parts.previousUsd, kind: "total", text: wholeUsd(parts.previousUsd) },
  ];
  let at = parts.previousUsd;
  for (const { label, usd: change } of causesOf(parts).filter(({ usd: it }) => it !== 0)) {
    const kind = change > 0 ? "more-cost" : "less-cost";
    steps.push({ label, from: at, to: at + change, kind, text: signed(wholeUsd(change), change) });
    at += change;
  }
  const last = { label: now, from: 0, to: parts.currentUsd, kind: "total" as const };
  return [...steps, { ...last, text: wholeUsd(parts.currentUsd) }];
}
