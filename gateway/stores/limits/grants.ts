import { type AdmittedCall, isHeld } from "../../limits/admission.ts";
import { type BudgetUse, budgetUse, fullest } from "../../limits/budget-use.ts";
import { formatPico, parsePico } from "../../limits/money.ts";
import type { OpenAccount } from "./accounts.ts";
import type { CallSettlement } from "./booking.ts";
import type { Rounds } from "./rounds.ts";

export type CallUsage = {
  /** Exact decimal; null if unknown. */
  costUsd: string | null;
  /** Null if unknown. */
  tokens: number | null;
};

/** An admitted call. Exactly one of the two methods is called, once; it takes at most 0.5 s and never rejects. */
export type Grant = {
  /** Returns the unused part; the rest stays reserved until the record is stored. Null: nothing to await. */
  settle(used: CallUsage): Promise<void> | null;
  /** The call was not sent and leaves no record. */
  release(): Promise<void>;
  /** The most that the call may cost, as an exact decimal; undefined for a key without a budget. */
  boundUsd?: string | undefined;
  /** The assumed cost of an answered call while its cost is unknown; undefined also if its model has no price. */
  unknownUsd?: string | undefined;
  /** The use of the key's budget, or of the fullest of the budgets that the call counts in; undefined without one. */
  budget?: BudgetUse | undefined;
};

export type GrantPart = { account: OpenAccount; call: AdmittedCall };

/** The grant of all accounts that a call counts in. `recorded`: it leaves a record, which removes what is reserved. */
export function grantOf(
  settlements: Settlements,
  callId: string,
  { parts, recorded }: { parts: readonly GrantPart[]; recorded: boolean },
): Grant {
  const end = async (usd: string | null, tokens: number | null) => {
    for (const { account, call } of parts) account.figures.end(call, { usd, tokens });
    const booked = parts.filter(({ call }) => call.booked);
    const correction = booked.flatMap((part) => correctionOf(part, tokens))[0] ?? null;
    const holds = booked.filter(({ call }) => isHeld(call.limits)).length;
    if (!correction && holds === 0) return settlements.forget(callId);
    const settled = settlements.settle({ callId, usd, holds, correction });
    if (!booked.every(({ account, call }) => account.figures.mayWait(call.limits))) await settled;
  };
  return {
    ...budgetOf(parts),
    settle: ({ costUsd, tokens }) => end(recorded ? (costUsd ?? "0") : null, tokens),
    release: () => end(null, 0),
  };
}

/** Only keys have a limit of tokens, so at most one of a call's accounts is corrected. */
function correctionOf({ account, call }: GrantPart, tokens: number | null) {
  const { limits, slot, reservation } = call;
  if (limits.tokens_per_minute === undefined || tokens === null || tokens === reservation.tokens) return [];
  return [{ accountId: account.id, slot, tokens: tokens - reservation.tokens }];
}

/** A record has one bound, which counts in every budget: the largest. */
function budgetOf(parts: readonly GrantPart[]): Pick<Grant, "boundUsd" | "unknownUsd" | "budget"> {
  const budgeted = parts.filter(({ call }) => call.limits.budget_usd !== undefined);
  const [first] = budgeted;
  if (!first) return {};
  const [bound = 0n] = budgeted.map(({ call }) => call.reservation.usd).toSorted((a, b) => (a < b ? 1 : -1));
  const { minimumUsd } = first.call.demand;
  return {
    boundUsd: formatPico(bound),
    // The bounded part of the cost. A call without a price reserves one pico-dollar, which says nothing.
    unknownUsd: minimumUsd > 1n ? formatPico(minimumUsd) : undefined,
    budget: fullest(
      budgeted.map(({ account, call }) =>
        budgetUse(call.spent, parsePico(call.limits.budget_usd ?? "0"), account.figures.period),
      ),
    ),
  };
}

export type Settlements = ReturnType<typeof openSettlements>;

/** The calls that this process has reserved, and what is to be written of those that have ended. */
export function openSettlements(rounds: Pick<Rounds, "end">) {
  /** Null: not ended. */
  const open = new Map<string, CallSettlement | null>();

  async function write(settlements: readonly CallSettlement[]): Promise<void> {
    if (await rounds.end(settlements)) for (const { callId } of settlements) open.delete(callId);
  }

  return {
    begin: (callId: string) => void open.set(callId, null),
    /** The call has no reservation in the database. */
    forget: (callId: string) => void open.delete(callId),
    /** Settles now, or once the database is reachable. Waits at most half a second, and never rejects. */
    settle(settlement: CallSettlement): Promise<void> {
      // If written late, the minute whose tokens it corrects is over.
      open.set(settlement.callId, { ...settlement, correction: null });
      return write([settlement]);
    },
    /** Retries failed writes. */
    retry: (): Promise<void> => write([...open.values()].filter((it) => it !== null)),
    /** Calls whose reservation is still needed. */
    running: () => [...open.keys()],
  };
}
