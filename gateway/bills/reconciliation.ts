import type { Db } from "#drizzle/database.ts";
import {
  RECONCILIATION_PARTS,
  type ReconciledAccount,
  type Reconciliation,
} from "#shared/admin/reconciliation.ts";
import { difference, type Exact, formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import type { Directory } from "../directory.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import {
  type BillLineRow,
  billedDays,
  listBillLines,
  VENDOR_ACCOUNTS,
  type VendorAccountRow,
} from "./bill-rows.ts";
import { BILLED_KINDS, type VendorName } from "./billers.ts";
import { meteredIn } from "./metered.ts";
import { type Difference, type Parts, type TakenApart, takeApart } from "./take-apart.ts";

export type ReconciliationDeps = {
  database: Db;
  directory: { current(): Pick<Directory, "providers"> };
};

/** Days, both included. */
type BillWindow = { from: string; to: string };

export type ReconciliationQuery = BillWindow & { vendor?: string | undefined; account?: string | undefined };

/** Compares the bills of accounts with what was metered. Days without a bill are left out on both sides. */
export const reconciliationOf = (
  deps: ReconciliationDeps,
  { vendor, account, ...window }: ReconciliationQuery,
): Promise<Reconciliation> =>
  withStoreErrors(async () => {
    const rows = (await VENDOR_ACCOUNTS.all(deps.database.db)).filter(
      (row) =>
        (vendor === undefined || row.vendor === vendor) && (account === undefined || row.name === account),
    );
    const accounts: [ReconciledAccount, TakenApart][] = [];
    for (const row of rows) accounts.push(await reconciled(deps, row, window));
    const apart = accounts.map(([, it]) => it);
    const sum = (of: (it: TakenApart) => Exact) => apart.map(of).reduce(plus, ZERO);
    const parts = RECONCILIATION_PARTS.map((part) => [part, sum((it) => it.parts[part])]);
    const total = {
      billed: sum((it) => it.billed),
      metered: sum((it) => it.metered),
      // One for each part.
      parts: Object.fromEntries(parts) as Parts,
    };
    return {
      ...window,
      accounts: accounts.map(([view]) => view),
      total: { ...figures(total), unexplained_share: unexplainedShare(total) },
    };
  });

const ALL_LINES = { after: null, limit: 2 ** 31 - 1 };
const DAYS_SHOWN_MAX = 31;
const ITEMS_MAX = 500;

/** The gateway's providers whose calls an account pays for. */
const providersOf = (
  { providers, vendor }: Pick<VendorAccountRow, "providers" | "vendor">,
  directory: Pick<Directory, "providers">,
): readonly string[] => {
  // The schema allowed only these.
  const kinds = BILLED_KINDS[vendor as VendorName];
  return (
    providers ??
    [...directory.providers.values()].flatMap(({ name, kind }) => (kinds.includes(kind) ? name : []))
  );
};

async function reconciled(
  { database, directory }: ReconciliationDeps,
  account: VendorAccountRow,
  window: BillWindow,
): Promise<[ReconciledAccount, TakenApart]> {
  const { name, vendor, timeZone } = account;
  const days = await billedDays(database.db, name, window);
  const providers = providersOf(account, directory.current());
  const lines = await listBillLines(database.db, { account: name, ...window }, ALL_LINES);
  const apart = takeApart(lines, await meteredIn(database, { providers, days, timeZone }), account.keys);
  const view = {
    account: name,
    vendor,
    time_zone: timeZone,
    days: days.length,
    days_without_bill: daysIn(window)
      .filter((day) => !days.includes(day))
      .slice(0, DAYS_SHOWN_MAX),
    ...figures(apart),
    unexplained_share: unexplainedShare(apart),
    unconverted: sums(
      lines.filter(({ rate, amount }) => rate === null && amount !== null),
      ({ currency }) => currency,
      ({ amount }) => parseDecimal(amount ?? "0"),
    ),
    unknown_keys: Object.entries(
      sums(
        lines.filter(
          ({ key, category }) => category === "usage" && account.keys && key && !account.keys.includes(key),
        ),
        ({ key }) => key ?? "",
        (line) => takeApart([line], [], null).billed,
      ),
    ).map(([key, billed_usd]) => ({ key, billed_usd })),
    items: apart.items.toSorted(bySize).slice(0, ITEMS_MAX).map(itemView),
  };
  return [view, apart];
}

function sums(
  lines: readonly BillLineRow[],
  by: (line: BillLineRow) => string,
  of: (line: BillLineRow) => Exact,
): Record<string, string> {
  const groups = Map.groupBy(lines, by);
  return Object.fromEntries(
    [...groups].map(([name, those]) => [name, formatDecimal(those.map(of).reduce(plus, ZERO))]),
  );
}

const figures = ({ billed, metered, parts }: Pick<TakenApart, "billed" | "metered" | "parts">) => ({
  billed_usd: formatDecimal(billed),
  metered_usd: formatDecimal(metered),
  difference_usd: formatDecimal(difference(billed, metered)),
  // One for each part.
  parts: Object.fromEntries(
    RECONCILIATION_PARTS.map((part) => [part, formatDecimal(parts[part])]),
  ) as ReconciledAccount["parts"],
});

const numberOf = ({ num, den }: Exact): number => Number(formatDecimal({ num, den }));

const unexplainedShare = ({ billed, parts }: Pick<TakenApart, "billed" | "parts">): number | null =>
  billed.num === 0n ? null : Math.abs(numberOf(parts.unexplained) / numberOf(billed));

const apartness = ({ billed, metered }: Difference): number =>
  Math.abs(numberOf(difference(billed, metered)));
const bySize = (a: Difference, b: Difference): number => apartness(b) - apartness(a);

const itemView = ({ model, kind, ...it }: Difference) => ({
  item: model || "all models",
  kind: kind || null,
  ...figures(it),
});

const DAY_MS = 86_400_000;

export const daysIn = ({ from, to }: BillWindow): string[] => {
  const fromMs = Date.parse(from);
  return Array.from({ length: (Date.parse(to) - fromMs) / DAY_MS + 1 }, (_, index) =>
    new Date(fromMs + index * DAY_MS).toISOString().slice(0, 10),
  );
};
