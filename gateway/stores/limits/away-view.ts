import { and, eq, gte, inArray, sql } from "drizzle-orm";
import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { keySpend, limitAway } from "#drizzle/schema/limits.ts";
import type { KeyView } from "#shared/admin/keys.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { personAccounts } from "../../limits/account-ids.ts";
import { overrunsOf } from "../../limits/away.ts";
import { shortDecimal } from "../../limits/money.ts";
import { budgetPeriodAt } from "../../limits/window.ts";
import type { Reader } from "../change.ts";

type AwayView = NonNullable<KeyView["away"]>;
type KeyOf = { id: string; owner: string | null; own: boolean; limits: KeyLimits | null };

/** The accounts of a key's limits: keys that a person made share theirs. */
function accountsOf({ id, owner, own }: KeyOf): { id: string; spendId: string } {
  if (!own || owner === null) return { id, spendId: id };
  const person = personAccounts(owner);
  return { id: person.ownKeys, spendId: person.id };
}

const DAY_MS = 86_400_000;
const SHOWN_DAYS = 30;

/** Calls let through while the database was away, by key; keys without such calls are missing. */
export async function awayViews(
  reader: Reader,
  keys: readonly KeyOf[],
  now: Date,
): Promise<Map<string, AwayView>> {
  if (keys.length === 0) return new Map();
  const since = new Date(now.getTime() - SHOWN_DAYS * DAY_MS).toISOString();
  const ids = keys.map((key) => accountsOf(key).id);
  const rows = await reader
    .select({
      keyId: limitAway.keyId,
      minute: limitAway.minute,
      requests: sql<number>`sum(${limitAway.requests})::int`,
      tokens: sql<number>`sum(${limitAway.tokens})::float8`,
      calls: sql<number>`sum(${limitAway.calls})::int`,
      usdPico: sql<string>`ceil(sum(${limitAway.usd}) * 1e12)::text`,
    })
    .from(limitAway)
    .where(and(eq(limitAway.orgId, DEFAULT_ORG), inArray(limitAway.keyId, ids), gte(limitAway.minute, since)))
    .groupBy(limitAway.keyId, limitAway.minute)
    .orderBy(limitAway.minute);
  const found = new Map<string, AwayView>();
  for (const key of keys) {
    const { id, limits } = key;
    const account = accountsOf(key);
    const minutes = rows.filter(({ keyId }) => keyId === account.id);
    const [first, last] = [minutes[0], minutes.at(-1)];
    if (!first || !last) continue;
    const over = overrunsOf(
      limits ?? {},
      minutes,
      await spentBy(reader, { id: account.spendId, limits }, now),
    );
    found.set(id, {
      from: first.minute,
      to: last.minute,
      requests: minutes.reduce((sum, { requests }) => sum + requests, 0),
      tokens: minutes.reduce((sum, { tokens }) => sum + tokens, 0),
      usd: shortDecimal(minutes.reduce((sum, { usdPico }) => sum + BigInt(usdPico), 0n)),
      over: { ...over, budget_usd: shortDecimal(over.budget_usd) },
    });
  }
  return found;
}

async function spentBy(
  reader: Reader,
  { id, limits }: Pick<KeyOf, "id" | "limits">,
  now: Date,
): Promise<bigint> {
  if (limits?.budget_usd === undefined) return 0n;
  const { from } = budgetPeriodAt(limits.budget_period ?? "month", now);
  const [row] = await reader
    .select({ pico: sql<string>`coalesce(ceil(sum(${keySpend.usd}) * 1e12), 0)::text` })
    .from(keySpend)
    .where(and(eq(keySpend.orgId, DEFAULT_ORG), eq(keySpend.keyId, id), gte(keySpend.day, from)));
  return BigInt(row?.pico ?? 0);
}
