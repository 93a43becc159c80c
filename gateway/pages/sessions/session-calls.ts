import { useQuery } from "@tanstack/react-query";
import type { Page } from "#shared/admin/fields.ts";
import type { RequestView } from "#shared/admin/records.ts";
import { formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import { getJson, queryOf } from "../data/api.ts";
import { OF_RECORDS } from "../data/follow-records.ts";

const PAGE_ITEMS = 500;
const PAGES_MAX = 4;

/** The latest calls of a session, 2,000 at most. */
async function callsOf(session: string, signal: AbortSignal): Promise<Page<RequestView>> {
  const data: RequestView[] = [];
  let last: Page<RequestView> = { data, has_more: true, next: null };
  for (let pages = 0; pages < PAGES_MAX && last.has_more; pages++) {
    const query = queryOf({ session, limit: PAGE_ITEMS, after: last.next ?? undefined });
    last = await getJson<Page<RequestView>>(`/admin/v1/requests${query}`, signal);
    data.push(...last.data);
  }
  return { ...last, data };
}

export const useCallsOf = (session: string) =>
  useQuery({
    queryKey: ["session-calls", session],
    queryFn: ({ signal }) => callsOf(session, signal),
    meta: OF_RECORDS,
  });

type Amount = { usd: string; isFloor: boolean };

const NOTHING: Amount = { usd: formatDecimal(ZERO), isFloor: false };

/** No one pays the list price of a call on a subscription; reports leave it out, too. */
function added({ usd, isFloor }: Amount, call: RequestView): Amount {
  if (call.channel === "subscription") return { usd, isFloor };
  return {
    usd: formatDecimal(plus(parseDecimal(usd), parseDecimal(call.cost_usd ?? "0"))),
    isFloor: isFloor || call.unpriced || call.partial,
  };
}

/** Calls of one kind together; the money is exact. */
type Sum = Amount & { name: string; calls: number; tokens: number };

export function sumsBy(calls: readonly RequestView[], nameOf: (call: RequestView) => string): Sum[] {
  const sums = new Map<string, Sum>();
  for (const call of calls) {
    const name = nameOf(call);
    const sum = sums.get(name) ?? { name, calls: 0, tokens: 0, ...NOTHING };
    const tokens = sum.tokens + (call.input_tokens ?? 0) + (call.output_tokens ?? 0);
    sums.set(name, { ...sum, ...added(sum, call), tokens, calls: sum.calls + 1 });
  }
  return [...sums.values()];
}

/** Calls in the order in which they were made, each with what the session had cost by then. */
export function cumulative(calls: readonly RequestView[]): (Amount & { call: RequestView })[] {
  let amount = NOTHING;
  return calls
    .toSorted((a, b) => a.started_at.localeCompare(b.started_at))
    .map((call) => {
      amount = added(amount, call);
      return { call, ...amount };
    });
}
