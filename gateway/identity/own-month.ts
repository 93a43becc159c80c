import type { Database } from "#drizzle/database.ts";
import { readDecimal } from "#shared/admin/fields.ts";
import type { Me } from "#shared/admin/me.ts";
import type { Clock } from "#shared/clock.ts";
import type { Result, Spec } from "#shared/report.ts";
import { QueryAnswers } from "#shared/report-query.ts";
import { fits } from "#shared/schema.ts";
import { GatewayError } from "../errors.ts";
import { personAccounts } from "../limits/account-ids.ts";
import { type Pico, parsePico, shortDecimal } from "../limits/money.ts";
import { findPersonByEmail } from "../stores/identity/people.ts";
import { type KeyWithSecrets, spellingsOf, spentSince } from "../stores/keys.ts";
import { type ReportWriter, resultOf } from "../stores/reports/report-writer.ts";
import { withStoreErrors } from "../stores/store-errors.ts";

export type OwnUsageDeps = {
  database: Database;
  reportWriter: Pick<ReportWriter, "write" | "answer">;
  /** Resolves once the calls that have ended so far are in the database. */
  settled(): Promise<void>;
  clock: Clock;
};

export type OwnSpec = Omit<Spec, "source" | "filters">;

/** A report of the calls of one person's keys; a label of a call charges no one. @throws GatewayError invalid_request for an impossible range. */
export async function ownReport(
  deps: OwnUsageDeps,
  email: string,
  { timeZone = "UTC", ...spec }: OwnSpec & { timeZone?: string },
): Promise<Result> {
  const full = { ...spec, ...(await callsOf(deps, email)) };
  return await resultOf(deps.reportWriter, full, { now: deps.clock.now(), byOwner: true, timeZone });
}

/** Several of them, of one snapshot. @throws GatewayError as above. */
export async function ownReports(
  deps: OwnUsageDeps,
  email: string,
  { specs, timeZone }: { specs: readonly OwnSpec[]; timeZone: string },
): Promise<QueryAnswers> {
  const calls = await callsOf(deps, email);
  const reports = specs.map((spec) => ({ spec: { ...spec, ...calls } }));
  const asked = { reports, form: "several", scope: null, timeZone, byOwner: true, complete: true } as const;
  const made = await deps.reportWriter.answer(asked, deps.clock.now(), { gzip: false });
  const answers: unknown = JSON.parse(String(made));
  if (!fits(QueryAnswers, answers)) throw new GatewayError("internal");
  return answers;
}

/** What a spec says of all calls of a person's keys, once those that have ended are stored. */
async function callsOf({ database, settled }: OwnUsageDeps, email: string) {
  const subject = await withStoreErrors(() => spellingsOf(database.db, email));
  await settled();
  return { source: "requests" as const, filters: { subject } };
}

/** A person's spend this month, and the rest of the budget that limits them. */
export async function ownMonth(
  deps: OwnUsageDeps,
  email: string,
  keys: readonly KeyWithSecrets[],
): Promise<Me["month"]> {
  const { total } = await ownReport(deps, email, {
    dimensions: [],
    measures: ["cost_usd", "requests"],
    range: "mtd",
    compare: "none",
    view: "table",
  });
  const { cost_usd: cost = null, requests = null } = total.current ?? {};
  // No call costs nothing; a cost that is unknown stays so.
  const usd = requests === 0 || requests === null ? "0" : readDecimal(cost);
  return { cost_usd: usd, floor: total.floor, ...(await budgetOf(deps, email, keys)) };
}

type Left = { budget: bigint; left: bigint };

/** The monthly budgets that limit all of a person's calls: the person's own, and those of the keys together. */
async function budgetOf(deps: OwnUsageDeps, email: string, keys: readonly KeyWithSecrets[]) {
  const { database, clock } = deps;
  const now = clock.now();
  const { id: account } = personAccounts(email);
  const usable = keys.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now.getTime());
  const ids = [account, ...usable.map(({ id }) => id)];
  const spent = await withStoreErrors(() =>
    spentSince(database.db, ids, `${now.toISOString().slice(0, 7)}-01`),
  );
  const leftOf = (budget: Pico, id: string): Left => {
    const left = budget - parsePico(spent.get(id) ?? "0");
    return { budget, left: left > 0n ? left : 0n };
  };
  const person = await withStoreErrors(() => findPersonByEmail(database.db, email));
  const ofPerson =
    person?.budgetPeriod === "month" && person.budgetUsd !== null
      ? [leftOf(parsePico(person.budgetUsd), account)]
      : [];
  const ofKeys = keysLeft(usable, (budget, { id, own }) => leftOf(budget, own ? account : id));
  const [least] = [...ofPerson, ...(ofKeys ? [ofKeys] : [])].toSorted((a, b) => (a.left < b.left ? -1 : 1));
  if (!least) return {};
  return { budget_usd: shortDecimal(least.budget), budget_left_usd: shortDecimal(least.left) };
}

/**
 * What the keys may spend together. Null unless every key that may still be used has a monthly budget: otherwise the sum
 * would not be a limit. Keys that the person made share theirs: the largest counts, once.
 */
function keysLeft(keys: readonly KeyWithSecrets[], leftOf: (budget: Pico, key: KeyWithSecrets) => Left) {
  if (keys.length === 0) return null;
  let shared: Left = { budget: 0n, left: 0n };
  let sum: Left = { budget: 0n, left: 0n };
  for (const key of keys) {
    const { budget_usd: usd, budget_period: period } = key.limits ?? {};
    if (usd === undefined || period !== "month") return null;
    const one = leftOf(parsePico(usd), key);
    if (!key.own) sum = { budget: sum.budget + one.budget, left: sum.left + one.left };
    else if (one.budget > shared.budget) shared = one;
  }
  return { budget: sum.budget + shared.budget, left: sum.left + shared.left };
}
