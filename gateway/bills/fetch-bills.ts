import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { type Lease, runLeased, takeLease } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import { ours } from "#drizzle/ours.ts";
import { vendorAccounts } from "#drizzle/schema/vendor-bills.ts";
import { FETCHED_VENDORS, type VendorBillRead } from "#shared/admin/vendor-bills.ts";
import type { Ambient } from "#shared/clock.ts";
import { isRecord, parsedJson } from "#shared/json.ts";
import { errorFields } from "#shared/log.ts";
import type { Secret } from "../directory.ts";
import type { HeaderTable } from "../http/headers.ts";
import type { Sealer } from "../stores/seal.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import type { OutboundFetch } from "../upstream/outbound-fetch.ts";
import { bytesUpTo } from "../upstream/whole-body.ts";
import { anthropicBill } from "./anthropic-bill.ts";
import { openAccountCredential, storeBill, type VendorAccountRow } from "./bill-rows.ts";
import type { FetchedVendor } from "./billers.ts";
import type { DaysInUtc, ReadReport } from "./fetched.ts";
import { openaiBill } from "./openai-bill.ts";
import type { BillLine } from "./read-bill.ts";
import { summaryOf } from "./summary.ts";

type Fetched = {
  baseUrl: string;
  headers(credential: Secret): HeaderTable;
  bill(read: ReadReport, days: DaysInUtc): Promise<BillLine[]>;
};

const VENDOR_APIS: Readonly<Record<FetchedVendor, Fetched>> = {
  anthropic: {
    baseUrl: "https://api.anthropic.com",
    headers: (credential) => ({ "x-api-key": credential.reveal(), "anthropic-version": "2023-06-01" }),
    bill: anthropicBill,
  },
  openai: {
    baseUrl: "https://api.openai.com",
    headers: (credential) => ({ authorization: `Bearer ${credential.reveal()}` }),
    bill: openaiBill,
  },
};

/** A vendor's report cannot be had; `code` is its status or what is wrong with it. */
class VendorFault extends Error {
  override readonly name = "VendorFault";
  readonly code: string;

  constructor(code: string) {
    super(`the vendor's report cannot be read: ${code}`);
    this.code = code;
  }
}

export type FetchBillsDeps = Ambient & {
  database: Database;
  sealer: Sealer;
  reach: OutboundFetch;
};

const DAY_MS = 86_400_000;
/** The first fetch of an account. */
const FIRST_DAYS = 62;
/** Vendors revise their figures for some days. */
const REVISED_DAYS = 5;
const LEASE_MS = 10 * 60_000;
const POLL_MS = 60_000;

const isFetched = ours(vendorAccounts, { vendor: FETCHED_VENDORS }, isNotNull(vendorAccounts.credential));

/** Fetches each account's bill once a day until stopped. Any number of gateways may do so at once. */
export const startFetchingBills = (deps: FetchBillsDeps): Poller =>
  poll({
    log: deps.log,
    pollMs: POLL_MS,
    round: async () => {
      const dayBegan = new Date(Math.floor(deps.clock.now().getTime() / DAY_MS) * DAY_MS).toISOString();
      const isOld = sql`coalesce(${vendorAccounts.fetchedAt}, '-infinity') < ${dayBegan}::timestamptz`;
      const where = and(isFetched, eq(vendorAccounts.enabled, true), isOld);
      const lease = await takeLease(deps, vendorAccounts, { where, leaseMs: LEASE_MS });
      if (lease === null) return false;
      await fetchLeased(deps, lease);
      return true;
    },
  });

/** Fetches a bill now; null: it cannot be fetched, or already is. @returns what was read, or the stored error. */
export async function fetchNow(
  deps: FetchBillsDeps,
  name: string,
): Promise<VendorBillRead | { error: unknown } | null> {
  const isThat = and(isFetched, eq(vendorAccounts.name, name));
  await withStoreErrors(() =>
    deps.database.db.update(vendorAccounts).set({ nextAttemptAt: null }).where(isThat),
  );
  const lease = await takeLease(deps, vendorAccounts, { where: isThat, leaseMs: LEASE_MS });
  return lease && fetchLeased(deps, lease);
}

async function fetchLeased(
  deps: FetchBillsDeps,
  lease: Lease<VendorAccountRow>,
): Promise<VendorBillRead | { error: unknown }> {
  const { row: account } = lease;
  let read: VendorBillRead | null = null;
  const failed = await runLeased(lease, async () => {
    const now = deps.clock.now();
    const days = daysToRead(account, now);
    const lines = await linesOf(deps, account, days);
    const names = dayNames(days);
    const bill = { account, days: names, lines, source: "api", rates: {}, now } as const;
    await deps.database.db.transaction((tx) => storeBill(tx, bill));
    read = summaryOf(account.name, names, lines);
    return { fetchedAt: now.toISOString() };
  });
  if (failed === null && read !== null) return read;
  deps.log.warn({ account: account.name, ...errorFields(failed?.error) }, "a vendor's bill was not fetched");
  return { error: failed?.error };
}

/** Up to yesterday: today's bill is not whole. */
function daysToRead({ fetchedAt }: VendorAccountRow, now: Date): DaysInUtc {
  const toMs = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const sinceMs = fetchedAt === null ? toMs - FIRST_DAYS * DAY_MS : Date.parse(fetchedAt);
  return {
    fromMs: Math.floor(Math.min(sinceMs, toMs) / DAY_MS - (fetchedAt ? REVISED_DAYS : 0)) * DAY_MS,
    toMs,
  };
}

const dayNames = ({ fromMs, toMs }: DaysInUtc): string[] =>
  Array.from({ length: (toMs - fromMs) / DAY_MS }, (_, index) =>
    new Date(fromMs + index * DAY_MS).toISOString().slice(0, 10),
  );

async function linesOf(
  { sealer, reach }: FetchBillsDeps,
  account: VendorAccountRow,
  days: DaysInUtc,
): Promise<BillLine[]> {
  // Only accounts of these vendors are leased.
  const api = VENDOR_APIS[account.vendor as FetchedVendor];
  const credential = openAccountCredential(account, sealer);
  if (credential === null) throw new VendorFault("credential");
  const root = (account.baseUrl ?? api.baseUrl).replace(/\/$/, "");
  const { allowPrivateNetwork } = account;
  try {
    return await api.bill(async function* (path, query) {
      for (let [page, pages]: [string | null, number] = ["", 0]; page !== null; pages += 1) {
        if (pages === PAGES_MAX) throw new VendorFault("pages");
        const search = new URLSearchParams([
          ...query.map(([name, value]) => [name, value]),
          ...(page ? [["page", page]] : []),
        ]);
        const response = await reach(
          { url: `${root}${path}?${search}`, allowPrivateNetwork },
          {
            method: "GET",
            headers: { accept: "application/json", ...api.headers(credential) },
            signal: AbortSignal.timeout(ANSWER_MS_MAX),
          },
        );
        const answer = await jsonIn(response);
        yield* answer.data;
        page = answer.next;
      }
    }, days);
  } catch (error) {
    throw error instanceof RangeError ? new VendorFault(error.message) : error;
  }
}

const PAGES_MAX = 1000;
const ANSWER_MS_MAX = 60_000;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

async function jsonIn(response: Response): Promise<{ data: unknown[]; next: string | null }> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new VendorFault(String(response.status));
  }
  const bytes = await bytesUpTo(response, ANSWER_BYTES_MAX, () => new VendorFault("too long"));
  const body = parsedJson(bytes.toString("utf8"));
  const [data, next] = isRecord(body) ? [body["data"], body["next_page"]] : [];
  if (!Array.isArray(data)) throw new VendorFault("form");
  return { data, next: typeof next === "string" && next !== "" ? next : null };
}
