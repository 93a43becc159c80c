import type { LinkEvidence } from "#drizzle/schema/github.ts";
import { compareKeys } from "./later.ts";

/**
 * Why a link is in its state. `body_…`: what a delivery's body said, per distinct account of it the latest delivery
 * that gave it; `merged`: the earliest delivery that said so; `edited_after_merge`: the latest; `request_known`: the
 * session's first recorded request, which is no delivery. Without any delivery, GitHub's answer stands.
 */
export type Rule =
  | "body_none"
  | "body_one"
  | "body_conflict"
  | "merged"
  | "edited_after_merge"
  | "request_known";

/** Accounts of bodies kept per pull request: the latest ones, so that the present one is always among them. */
const BODY_ACCOUNTS_MAX = 10;

const isBody = (entry: LinkEvidence) => entry.rule.startsWith("body_");

const whenKey = (entry: LinkEvidence) => [entry.at, entry.deliveryId ?? ""] as const;
const isDelivered = (entry: LinkEvidence) => entry.deliveryId !== null;
const fullKey = (entry: LinkEvidence) => [
  ...whenKey(entry),
  entry.rule,
  JSON.stringify([entry.sessionIds, entry.diagnostics]),
];

/** Entries of one slot say the same thing; one of them stays. */
const slotOf = (entry: LinkEvidence) =>
  isBody(entry) ? JSON.stringify([entry.rule, entry.sessionIds, entry.diagnostics]) : entry.rule;

/** A delivery can be shown, so it wins against what GitHub answered when it was asked. */
function isBetter(entry: LinkEvidence, held: LinkEvidence): boolean {
  if (isDelivered(entry) !== isDelivered(held)) return isDelivered(entry);
  const order = compareKeys(whenKey(entry), whenKey(held));
  return entry.rule === "merged" ? order < 0 : order > 0;
}

/** Both histories in one, in order of time: the same whatever the order and grouping in which histories are joined. */
export function joinEvidence(a: readonly LinkEvidence[], b: readonly LinkEvidence[]): LinkEvidence[] {
  const slots = new Map<string, LinkEvidence>();
  for (const entry of [...a, ...b]) {
    const held = slots.get(slotOf(entry));
    if (!held || isBetter(entry, held)) slots.set(slotOf(entry), entry);
  }
  const entries = [...slots.values()].sort((x, y) => compareKeys(fullKey(x), fullKey(y)));
  const bodies = entries.filter(isBody);
  const dropped = new Set(bodies.slice(0, Math.max(0, bodies.length - BODY_ACCOUNTS_MAX)));
  return entries.filter((entry) => !dropped.has(entry));
}

export const withoutRule = (evidence: readonly LinkEvidence[], rule: Rule): LinkEvidence[] =>
  evidence.filter((entry) => entry.rule !== rule);
