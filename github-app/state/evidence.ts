import type { LinkEvidence } from "#drizzle/schema/github.ts";
import { compareKeys } from "./later.ts";

/**
 * Why a link is in its state. `body_…`: the session ids of a body, once per distinct content, by the latest delivery
 * with it; `merged`: the earliest delivery of the merge; `edited_after_merge`: the latest such edit; `request_known`:
 * the session's first recorded request; `claim_accepted`: an administrator accepted the claim. Facts read from GitHub's API have no delivery.
 */
export type Rule =
  | "body_none"
  | "body_one"
  | "body_conflict"
  | "merged"
  | "edited_after_merge"
  | "request_known"
  | "claim_accepted";

/** Bodies kept per pull request: the latest ones, so that the present one is always among them. */
const BODIES_MAX = 10;

const isBody = (entry: LinkEvidence) => entry.rule.startsWith("body_");

const whenKey = (entry: LinkEvidence) => [entry.at, entry.deliveryId ?? ""] as const;
const isDelivered = (entry: LinkEvidence) => entry.deliveryId !== null;
const fullKey = (entry: LinkEvidence) => [
  ...whenKey(entry),
  entry.rule,
  JSON.stringify([entry.sessionIds, entry.diagnostics]),
];

/** Entries of one slot mean the same; the better one is kept. */
const slotOf = (entry: LinkEvidence) =>
  isBody(entry) ? JSON.stringify([entry.rule, entry.sessionIds, entry.diagnostics]) : entry.rule;

/** A delivery can be looked up, so it wins against an answer of GitHub's API. */
function isBetter(entry: LinkEvidence, present: LinkEvidence): boolean {
  if (isDelivered(entry) !== isDelivered(present)) return isDelivered(entry);
  const order = compareKeys(whenKey(entry), whenKey(present));
  return entry.rule === "merged" ? order < 0 : order > 0;
}

/** Both histories in one, in order of time; the result does not depend on the order in which histories are joined. */
export function joinEvidence(a: readonly LinkEvidence[], b: readonly LinkEvidence[]): LinkEvidence[] {
  const slots = new Map<string, LinkEvidence>();
  for (const entry of [...a, ...b]) {
    const present = slots.get(slotOf(entry));
    if (!present || isBetter(entry, present)) slots.set(slotOf(entry), entry);
  }
  const entries = [...slots.values()].sort((x, y) => compareKeys(fullKey(x), fullKey(y)));
  const bodies = entries.filter(isBody);
  const dropped = new Set(bodies.slice(0, Math.max(0, bodies.length - BODIES_MAX)));
  return entries.filter((entry) => !dropped.has(entry));
}

export const withoutRule = (evidence: readonly LinkEvidence[], rule: Rule): LinkEvidence[] =>
  evidence.filter((entry) => entry.rule !== rule);
