import { useQuery } from "@tanstack/react-query";
import type { Page } from "#shared/admin/fields.ts";
import type { RequestView } from "#shared/admin/records.ts";
import type { ToolCallView } from "#shared/admin/tool-calls.ts";
import { formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import { getJson, queryOf } from "../data/api.ts";
import { OF_RECORDS } from "../data/follow-records.ts";

const CALLS_MAX = 500;

/** The latest calls of a session. */
export const useSessionCalls = (session: string) =>
  useQuery({
    queryKey: ["session-calls", session],
    queryFn: ({ signal }) =>
      getJson<Page<RequestView>>(`/admin/v1/requests${queryOf({ session, limit: CALLS_MAX })}`, signal),
    meta: OF_RECORDS,
  });

export const useSessionTools = (session: string) =>
  useQuery({
    queryKey: ["session-tools", session],
    queryFn: ({ signal }) =>
      getJson<Page<ToolCallView>>(`/admin/v1/tool-calls${queryOf({ session, limit: CALLS_MAX })}`, signal),
    meta: OF_RECORDS,
  });

/** Calls of one kind together; the money is exact. */
export type Sum = { name: string; calls: number; usd: string; isFloor: boolean };

export function sumsBy(calls: readonly RequestView[], nameOf: (call: RequestView) => string): Sum[] {
  const sums = new Map<string, Sum>();
  for (const call of calls) {
    const name = nameOf(call);
    const sum = sums.get(name) ?? { name, calls: 0, usd: formatDecimal(ZERO), isFloor: false };
    // No one pays the list price of a call on a subscription; reports leave it out, too.
    const cost = call.channel === "subscription" ? null : call.cost_usd;
    sums.set(name, {
      name,
      calls: sum.calls + 1,
      usd: formatDecimal(plus(parseDecimal(sum.usd), parseDecimal(cost ?? "0"))),
      isFloor: sum.isFloor || call.unpriced || call.partial,
    });
  }
  return [...sums.values()];
}
