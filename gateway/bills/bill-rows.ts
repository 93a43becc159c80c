import { asc, gte, lte, type SQL, sql } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { given, ours } from "#drizzle/ours.ts";
import { vendorAccounts, vendorBillDays, vendorBillLines } from "#drizzle/schema/vendor-bills.ts";
import { readDecimal } from "#shared/admin/fields.ts";
import type { VendorAccountPatch, VendorAccountPut } from "#shared/admin/vendor-bills.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { refuse } from "../errors.ts";
import type { Reader } from "../stores/change.ts";
import { type Edit, namedRows } from "../stores/rows.ts";
import type { SealContext, Sealer } from "../stores/seal.ts";
import type { BillLine } from "./read-bill.ts";

export type VendorAccountRow = typeof vendorAccounts.$inferSelect;
export type BillLineRow = typeof vendorBillLines.$inferSelect;

const rows = namedRows(vendorAccounts);

export const VENDOR_ACCOUNTS = {
  ...rows,
  /** Its bills stay no longer than the account. */
  async remove(tx: Transaction, name: string): Promise<VendorAccountRow | null> {
    for (const table of [vendorBillLines, vendorBillDays]) {
      await tx.delete(table).where(ours(table, { account: name }));
    }
    return rows.remove(tx, name);
  },
};

/** @throws GatewayError invalid_request */
export async function requireAccount(reader: Reader, name: string): Promise<VendorAccountRow> {
  const row = await rows.find(reader, name);
  if (!row)
    refuse(name ? `account: No vendor account is named ${name}.` : "account: Expected a vendor account.");
  return row;
}

type AccountEdit = Edit<VendorAccountRow, VendorAccountPut | VendorAccountPatch>;

/** The edited row. A credential that the body omits is kept, unless it would go to another address. */
export function editedAccount({ name, current, body, merge, sealer, now }: AccountEdit): VendorAccountRow {
  const base = merge ? current : null;
  const given = <T>(value: T | undefined, before: T | undefined, otherwise: T): T =>
    value === undefined ? (before ?? otherwise) : value;
  const vendor = body.vendor ?? base?.vendor ?? "other";
  const baseUrl = given(body.base_url, base?.baseUrl, null);
  const staysThere = current !== null && current.vendor === vendor && current.baseUrl === baseUrl;
  const sealed = body.credential && sealer.seal(body.credential, belongingOf(name));
  return {
    orgId: DEFAULT_ORG,
    name,
    vendor,
    credential: given(sealed, staysThere ? (current.credential ?? undefined) : undefined, null),
    baseUrl,
    allowPrivateNetwork: given(body.allow_private_network, base?.allowPrivateNetwork, false),
    providers: given(body.providers, base?.providers, null),
    keys: given(body.keys, base?.keys, null),
    models: given(body.models, base?.models, {}),
    timeZone: given(body.time_zone, base?.timeZone, "UTC"),
    rates: body.rates
      ? Object.fromEntries(Object.entries(body.rates).map(([code, usd]) => [code, readDecimal(usd) ?? "0"]))
      : (base?.rates ?? {}),
    enabled: given(body.enabled, base?.enabled, true),
    fetchedAt: current?.fetchedAt ?? null,
    // Whatever failed is tried again with what is new.
    leasedUntil: current?.leasedUntil ?? null,
    attempts: 0,
    nextAttemptAt: null,
    failure: null,
    createdAt: current?.createdAt ?? now.toISOString(),
    updatedAt: now.toISOString(),
  };
}

const belongingOf = (account: string): SealContext => ({
  orgId: DEFAULT_ORG,
  account,
  purpose: "vendor_account",
});

/** Null if it is missing, or was sealed with another master key. */
export const openAccountCredential = (
  { name, credential }: Pick<VendorAccountRow, "name" | "credential">,
  sealer: Sealer,
) => (credential === null ? null : sealer.open(credential, belongingOf(name)));

export type Bill = {
  account: VendorAccountRow;
  days: readonly string[];
  lines: readonly BillLine[];
  source: "api" | "file";
  /** USD for one unit of a currency, before those of the account, which are before those of the lines. */
  rates: Readonly<Record<string, string>>;
  now: Date;
};

/** Lines that one statement inserts. */
const LINES_AT_ONCE = 1000;

/** Replaces the bill of the days; the same bill again changes nothing. */
export async function storeBill(tx: Transaction, { account, days, lines, ...bill }: Bill): Promise<void> {
  if (days.length === 0) return;
  await tx.delete(vendorBillLines).where(ours(vendorBillLines, { account: account.name, day: [...days] }));
  const rates: Readonly<Record<string, string>> = { ...account.rates, ...bill.rates, USD: "1" };
  const read = { account: account.name, source: bill.source, readAt: bill.now.toISOString() };
  await tx
    .insert(vendorBillDays)
    .values(days.map((day) => ({ ...read, day })))
    .onConflictDoUpdate({
      target: [vendorBillDays.orgId, vendorBillDays.account, vendorBillDays.day],
      set: { source: read.source, readAt: read.readAt },
    });
  const placed = lines.map((line, index) => ({
    ...line,
    account: account.name,
    line: index,
    rate: rates[line.currency] ?? line.rate,
  }));
  for (let at = 0; at < placed.length; at += LINES_AT_ONCE) {
    await tx.insert(vendorBillLines).values(placed.slice(at, at + LINES_AT_ONCE));
  }
}

export type BillFilter = { account?: string | undefined; from?: string | undefined; to?: string | undefined };

const isListed = (
  table: typeof vendorBillLines | typeof vendorBillDays,
  { account, from, to }: BillFilter,
  more?: SQL,
): SQL | undefined => {
  const isSince = from === undefined ? undefined : gte(table.day, from);
  return ours(table, given({ account }), isSince, to === undefined ? undefined : lte(table.day, to), more);
};

/** By account, day and place in the bill. */
export const listBillLines = (
  reader: Reader,
  filter: BillFilter,
  { after, limit }: { after: BillLineRow | null; limit: number },
): Promise<BillLineRow[]> =>
  reader
    .select()
    .from(vendorBillLines)
    .where(isListed(vendorBillLines, filter, after ? isBehind(after) : undefined))
    .orderBy(asc(vendorBillLines.account), asc(vendorBillLines.day), asc(vendorBillLines.line))
    .limit(limit);

const isBehind = ({ account, day, line }: Pick<BillLineRow, "account" | "day" | "line">): SQL =>
  sql`(${vendorBillLines.account}, ${vendorBillLines.day}, ${vendorBillLines.line}) > (${account}, ${day}::date, ${line}::integer)`;

export const billedDays = async (reader: Reader, account: string, filter: BillFilter): Promise<string[]> => {
  const { day } = vendorBillDays;
  const isOf = isListed(vendorBillDays, { ...filter, account });
  const days = await reader.select({ day }).from(vendorBillDays).where(isOf).orderBy(asc(day));
  return days.map((row) => row.day);
};
