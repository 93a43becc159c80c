import { Group, TextInput } from "@mantine/core";
import { keepPreviousData, useQueryClient } from "@tanstack/react-query";
import {
  PART_MEANING,
  RECONCILIATION_PARTS,
  type ReconciledAccount,
  type Reconciliation,
} from "#shared/admin/reconciliation.ts";
import { FETCHED_VENDORS, type VendorAccountView, type VendorBillRead } from "#shared/admin/vendor-bills.ts";
import { sentence } from "#shared/report-words.ts";
import { useAddress } from "../data/address.ts";
import { postFile, postJson, queryOf, useJson } from "../data/api.ts";
import { listSearch } from "../data/list-search.ts";
import { Act } from "../parts/act.tsx";
import { Waterfall } from "../parts/charts/waterfall.tsx";
import { stepsBetween } from "../parts/charts/waterfall-steps.ts";
import { type Columns, folded, moment, money, onOff, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { counted, percent } from "../parts/format.ts";
import { Answered, PageHead, Panel } from "../parts/page.tsx";
import { Money } from "../parts/values.tsx";
import { codeWords } from "../parts/words.ts";
import { VENDOR_ACCOUNT } from "./forms/bill-forms.ts";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";
import { PaidAnyway } from "./seats.tsx";

const RECONCILIATION = "/admin/v1/reconciliation";
const ACCOUNTS = "/admin/v1/vendor-accounts";

type Part = (typeof RECONCILIATION_PARTS)[number];
type Item = ReconciledAccount["items"][number];

const partsOf = (parts: Readonly<Record<Part, string>>) =>
  RECONCILIATION_PARTS.filter((part) => Number(parts[part]) !== 0);

const ITEM_COLUMNS: Columns<Item> = {
  item: text("Billed", ({ item }) => item),
  metered: money("Metered", ({ metered_usd }) => metered_usd),
  billed: money("On the bill", ({ billed_usd }) => billed_usd),
  difference: money("Difference", ({ difference_usd }) => difference_usd),
  kind: folded(text("Counted", ({ kind }) => kind && codeWords(kind), "all")),
  why: text("Why", ({ parts }) => partsOf(parts).map(sentence).join(", "), "no difference"),
};

const NO_BILL = "No bill of this month is known. Open the account below to fetch it or to import a file.";

function Account({ it }: { it: ReconciledAccount }) {
  const missing = it.days_without_bill.length;
  const ends = {
    before: ["Metered", Number(it.metered_usd)],
    now: ["Billed", Number(it.billed_usd)],
  } as const;
  const causes = partsOf(it.parts).map((part) => ({ label: sentence(part), usd: Number(it.parts[part]) }));
  const share = it.unexplained_share === null ? "" : ` ${percent(it.unexplained_share)} is unexplained.`;
  const without = missing === 0 ? "" : ` ${counted(missing, "day")} without a bill, left out.`;
  return (
    <Panel
      title={it.account}
      sub={
        it.days === 0
          ? NO_BILL
          : `${it.vendor}, ${counted(it.days, "day")} of ${it.time_zone}.${without}${share}`
      }
    >
      {it.days > 0 && (
        <>
          <Waterfall steps={stepsBetween(ends, causes)} />
          <ul className="small mute">
            {partsOf(it.parts).map((part) => (
              <li key={part}>
                {sentence(part)}: <Money value={it.parts[part]} />, {PART_MEANING[part]}
              </li>
            ))}
            {Object.entries(it.unconverted).map(([currency, amount]) => (
              <li key={currency}>
                {amount} {currency} without a rate
              </li>
            ))}
            {it.unknown_keys.map(({ key, billed_usd }) => (
              <li key={key}>
                Key {key}: <Money value={billed_usd} />
              </li>
            ))}
          </ul>
          <DataTable
            label={`Differences of ${it.account}`}
            columns={ITEM_COLUMNS}
            rows={it.items.filter((item) => Number(item.metered_usd) !== 0 || Number(item.billed_usd) !== 0)}
            rowKey={["item", "kind"]}
          />
        </>
      )}
    </Panel>
  );
}

const FETCHED = new Set<string>(FETCHED_VENDORS);

function ReadBill({ account }: { account: VendorAccountView }) {
  const client = useQueryClient();
  const read = (bill: Promise<VendorBillRead>) => bill.finally(() => client.invalidateQueries());
  const path = `/admin/v1/vendor-bills/import${queryOf({ account: account.name })}`;
  return (
    <>
      <Group mb="md">
        {account.has_credential && FETCHED.has(account.vendor) && (
          <Act act={() => read(postJson(`${ACCOUNTS}/${account.name}/fetch`))} said={billRead}>
            Fetch the bill now
          </Act>
        )}
        <Act accept=".csv,.json" act={(file) => read(postFile(path, file))} said={billRead}>
          Import a file
        </Act>
      </Group>
      {account.failure !== null && <p role="alert">The last fetch failed: {account.failure}.</p>}
    </>
  );
}

const billRead = ({ lines, days, billed }: VendorBillRead) => (
  <p role="status">
    {counted(lines, "line")} of {counted(days, "day")}:{" "}
    {Object.entries(billed)
      .map(([currency, amount]) => `${amount} ${currency}`)
      .join(", ") || "nothing billed"}
    .
  </p>
);

const FACTS: ResourceFacts<VendorAccountView> = {
  path: ACCOUNTS,
  title: "Vendor accounts",
  noun: "vendor account",
  sub: "Whose bills are read: daily from Anthropic and OpenAI, and from files (FOCUS, AWS, Azure, Google, OpenRouter).",
  columns: {
    name: text("Name", ({ name }) => name),
    vendor: text("Vendor", ({ vendor }) => vendor),
    providers: text("Pays for", ({ providers }) => providers?.join(", ") ?? null, "all of its kinds"),
    fetched: moment("Fetched", ({ fetched_at }) => fetched_at, "never"),
    failure: text("Last failure", ({ failure }) => failure, "none"),
    enabled: onOff(({ enabled }) => enabled),
  },
  form: VENDOR_ACCOUNT,
  empty: "Add the account that a vendor bills, then fetch or import its bill.",
  removal: { verb: "Delete", effect: "Its bills are deleted, too. Records stay." },
  actions: (account) => <ReadBill account={account} />,
};

const readSearch = listSearch(["month"]);

/** The last day of a month such as `2026-11`. */
const lastDay = (month: string): string =>
  new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5, 7)), 0)).toISOString().slice(0, 10);

/** Vendors' bills of a month beside what was metered, and the accounts that they are of. */
export function VendorBillsPage() {
  const [{ month = new Date().toISOString().slice(0, 7) }, change] = useAddress(readSearch);
  const query = useJson<Reconciliation>(
    ["reconciliation", month],
    `${RECONCILIATION}${queryOf({ from: `${month}-01`, to: lastDay(month) })}`,
    { placeholderData: keepPreviousData },
  );
  return (
    <>
      <PageHead title="Vendor bills">
        <TextInput
          {...{ type: "month", size: "xs", value: month, "aria-label": "Month" }}
          onChange={(event) => change({ month: event.currentTarget.value || undefined }, { replace: true })}
        />
      </PageHead>
      <Answered query={query}>
        {({ accounts }) => accounts.map((it) => <Account key={it.account} it={it} />)}
      </Answered>
      <ResourcePanel facts={FACTS} />
      <PaidAnyway month={month} />
    </>
  );
}
