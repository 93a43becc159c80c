import { GatewayError } from "../../errors.ts";
import { claudeLimitHeaders } from "../../limits/claude-limit-headers.ts";
import type { LimitDemand, LimitRefusal, RateLimit } from "../../limits/decide.ts";
import { shortDecimal } from "../../limits/money.ts";
import type { LimitedKey } from "./accounts.ts";

const LIMITS = {
  requests: "requests per minute",
  tokens: "tokens per minute",
  calls: "concurrent calls",
} as const satisfies Record<Exclude<RateLimit, "reserved">, string>;

function rateMessage(limit: RateLimit, { of }: LimitedKey): string {
  if (limit === "reserved") return "The rest of the budget is reserved for running calls.";
  const who =
    of === "own_keys" ? "The keys of this person have together reached their" : "The key has reached its";
  return `${who} limit of ${LIMITS[limit]}.`;
}

/** `chosen` is one of a few known values (pricing/price-answer.ts), so it may be quoted. */
const unpricedMessage = (chosen: string): string =>
  `The price of \`${chosen}\` is unknown, so a key with a budget may not use it. Leave it out.`;

/** For a key with `when_away: "refuse"`. */
export const usedUp = (): GatewayError =>
  new GatewayError(
    "store_unavailable",
    "The database is unavailable, and this key has used up its allowance for that time. Try again later.",
  );

type RefusedCall = { key: LimitedKey; admittedAt: Date };

export function limitError(refusal: LimitRefusal, demand: LimitDemand, call: RefusedCall): GatewayError {
  const { type, headers } = refusal;
  if (type === "rate_limited") {
    const error = new GatewayError(type, rateMessage(refusal.limit, call.key));
    error.headers = { ...headers, "retry-after": String(refusal.retryAfterSeconds) };
    return error;
  }
  const { unpricedOption } = demand;
  if (unpricedOption === undefined && call.key.program === "claude_code") return claudeError(refusal, call);
  // Its bound exceeds any budget, so the refusal comes from the budget.
  const message =
    unpricedOption === undefined ? budgetMessage(call.key, refusal) : unpricedMessage(unpricedOption);
  const error = new GatewayError(type, message);
  error.headers = headers;
  return error;
}

type OverBudget = Extract<LimitRefusal, { type: "budget_exhausted" }>;

/** The same in the protocol that Claude Code speaks to a gateway that it is signed in to. */
function claudeError(refusal: OverBudget, { key, admittedAt }: RefusedCall): GatewayError {
  const error = new GatewayError("spend_limit_reached", budgetMessage(key, refusal));
  const period = key.limits.budget_period ?? "month";
  error.headers = claudeLimitHeaders({ endsMs: refusal.endsMs, nowMs: admittedAt.getTime(), period });
  return error;
}

const whoseBudget = ({ of, name, owner, team, budget }: LimitedKey): string =>
  ({
    budget: budget ? `${scopeText(budget)}, named "${budget.name}",` : "",
    key: `the key "${name}"`,
    own_keys: `${owner}'s own keys together`,
    person: `${owner}`,
    team: `the team "${team}"`,
  })[of];

const scopeText = ({ kind, scopeId }: NonNullable<LimitedKey["budget"]>): string =>
  scopeId === null ? "the organisation" : `the ${kind} "${scopeId}"`;

/** Whose budget it is, how much, and when the next one begins. */
function budgetMessage(key: LimitedKey, { left, endsMs }: OverBudget): string {
  const { limits } = key;
  const budget = `The budget of ${whoseBudget(key)} (${limits.budget_usd} USD a ${limits.budget_period ?? "month"})`;
  const [date] = new Date(endsMs).toISOString().split("T");
  const state =
    left > 0n
      ? `has ${shortDecimal(left)} USD left, which does not cover what this call may cost.`
      : "is used up.";
  return `${budget} ${state} The next one begins on ${date} at 00:00 UTC.`;
}
