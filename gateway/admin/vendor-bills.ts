import { pageOf, readDecimal } from "#shared/admin/fields.ts";
import { Reconciliation } from "#shared/admin/reconciliation.ts";
import { MAPPED, VENDOR_NAMES, VendorBillLine, VendorBillRead } from "#shared/admin/vendor-bills.ts";
import { exactJson, isRecord, parsedJson } from "#shared/json.ts";
import { keysOf } from "#shared/keys-of.ts";
import { viewAs } from "#shared/view-as.ts";
import {
  type BillFilter,
  type BillLineRow,
  listBillLines,
  requireAccount,
  storeBill,
} from "../bills/bill-rows.ts";
import { FILE_FORMATS, type VendorName } from "../bills/billers.ts";
import { type CsvRow, csvRows, separatorOf } from "../bills/csv.ts";
import { MAPPINGS, type Mapping, SERVICES } from "../bills/mappings.ts";
import { DECIMAL_MARKS } from "../bills/plain-number.ts";
import { CURRENCY, readBill } from "../bills/read-bill.ts";
import { daysIn, reconciliationOf } from "../bills/reconciliation.ts";
import { summaryOf } from "../bills/summary.ts";
import { refuse } from "../errors.ts";
import { requireKept } from "../export/focus-rows.ts";
import { readBody } from "../plugins/body.ts";
import type { Origin } from "../stores/audit.ts";
import { audited } from "../stores/change.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute, LIST_QUERY } from "./documented.ts";
import { pageFrom, readListQuery, readParameters, requireKnown } from "./list.ts";

const docs = adminRoute("vendor bills");
const FILE_BYTES_MAX = 64 * 1024 * 1024;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** `/admin/v1/reconciliation`: vendors' bills beside what was metered. */
export const adminReconciliation = (deps: AdminDeps) =>
  adminPart(deps, "reconciliation").get(
    "",
    async ({ request }) => {
      const { from, to, ...given } = readParameters(request, ["vendor", "account", "from", "to"]);
      requireKnown(given, { vendor: VENDOR_NAMES });
      readDays(from, to);
      const today = deps.clock.now().toISOString().slice(0, 10);
      const window = { from: from ?? `${(to ?? today).slice(0, 8)}01`, to: to ?? today };
      requireFew(window);
      const { account } = given;
      await readDatabase(deps, async (db) => {
        if (account !== undefined) await requireAccount(db, account);
        await requireKept(deps.database, { fromMs: Date.parse(window.from), toMs: Date.parse(window.to) });
      });
      await awaitSettled(deps);
      return reconciliationOf(deps, { ...given, ...window });
    },
    docs({
      summary: "Compare vendors' bills with what was metered",
      description:
        "The difference is taken apart by its reasons, which add up to it exactly. Days without a bill are left out on both sides. 400 if single records of the first day are no longer kept.",
      scopes: ["reports"],
      query: {
        vendor: `One of ${VENDOR_NAMES.join(", ")}. Default: all.`,
        account: "A vendor account. Default: all.",
        from: "First day. Default: the first of the month.",
        to: "Last day. Default: today.",
      },
      answers: { 200: Reconciliation },
    }),
  );

const DAY_MS = 86_400_000;
const DAYS_MAX = 400;

/** @throws GatewayError invalid_request */
function requireFew({ from, to }: { from: string; to: string }): void {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1 || days > DAYS_MAX) refuse(`to: Expected a day from \`from\`, at most ${DAYS_MAX} days.`);
}

/** `/admin/v1/vendor-bills`: lines of vendors' bills, and files of them. */
export const adminVendorBills = (deps: AdminDeps) =>
  adminPart(deps, "vendor-bills")
    .get(
      "",
      async ({ request }) => {
        const { limit, after, given } = readListQuery(request, ["account", "from", "to"]);
        const filter: BillFilter = { ...given, ...readDays(given.from, given.to) };
        const slice = { after: after === null ? null : cursorOf(after), limit: limit + 1 };
        const rows = await readDatabase(deps, (db) => listBillLines(db, filter, slice));
        return pageFrom(rows, limit, {
          view: (row) => viewAs(VendorBillLine, row),
          cursor: ({ account, day, line }) => `${account}/${day}/${line}`,
        });
      },
      docs({
        summary: "List lines of vendors' bills",
        query: { ...LIST_QUERY, account: "A vendor account.", from: "First day.", to: "Last day." },
        answers: { 200: pageOf(VendorBillLine) },
      }),
    )
    .post(
      "/import",
      ({ request, origin }) => importBill(deps, request, origin),
      docs({
        summary: "Import a bill from a file",
        description: `The body is the file: CSV (separated by commas, semicolons or tabs), a JSON list of objects, or one object a line. A day that the file covers replaces that day's lines of the account. At most ${FILE_BYTES_MAX / 1024 / 1024} MiB.`,
        query: {
          account: "The vendor account.",
          format: `What the columns are named like: ${keysOf(MAPPINGS).join(", ")}. Default: the vendor's own.`,
          mapping: `Columns as a JSON object, before those of the format: ${MAPPED.join(", ")}.`,
          from: "First day that the file covers: days without a line have no bill left. Default: only days with lines.",
          to: "Last day that it covers.",
          currency: "Of lines that name none. Default: USD.",
          rate: "USD for one unit of the file's currency, before the account's, and those of the file's rows.",
          decimal:
            "The decimal mark, `.` or `,`. Default: `.` in JSON and where commas separate the fields, else by the form of each number.",
        },
        file: ["text/csv", "application/json"],
        answers: { 200: VendorBillRead },
      }),
    );

/** @throws GatewayError invalid_request */
function readDays(from: string | undefined, to: string | undefined) {
  for (const [name, day] of Object.entries({ from, to })) {
    if (day === undefined || (DAY.test(day) && !Number.isNaN(Date.parse(day)))) continue;
    refuse(`${name}: Expected a day, such as 2026-01-31.`);
  }
  return { from, to };
}

function cursorOf(after: string): BillLineRow {
  const [account = "", day = "", line = ""] = after.split("/");
  if (!DAY.test(day) || !/^\d{1,9}$/.test(line)) refuse("after: Expected the `next` of the previous page.");
  // Only these three are compared.
  return { account, day, line: Number(line) } as BillLineRow;
}

const PARAMETERS = ["account", "from", "to", "format", "mapping", "currency", "rate", "decimal"] as const;

async function importBill(deps: AdminDeps, request: Request, origin: Origin) {
  const given = readParameters(request, PARAMETERS);
  requireKnown(given, { format: keysOf(MAPPINGS), decimal: DECIMAL_MARKS });
  const { currency = "USD", rate: rateText } = given;
  const rate = rateText === undefined ? null : readDecimal(rateText);
  if (rateText !== undefined && rate === null) refuse("rate: Expected a decimal number.");
  if (!CURRENCY.test(currency)) refuse("currency: Expected three capitals, such as EUR.");
  const account = await readDatabase(deps, (db) => requireAccount(db, given.account ?? ""));
  // The schema allowed only these.
  const format = (given.format ??
    FILE_FORMATS[account.vendor as VendorName] ??
    "focus") as keyof typeof MAPPINGS;
  const mapping: Mapping = { ...MAPPINGS[format], ...ownMapping(given.mapping) };
  const text = new TextDecoder().decode(await readBody(deps, request, { bytesMax: FILE_BYTES_MAX }));
  const { timeZone, models } = account;
  const services = Object.hasOwn(SERVICES, account.vendor) ? SERVICES[format] : undefined;
  const points = IS_JSON.test(text) || separatorOf(text) === ",";
  const decimal = DECIMAL_MARKS.find((mark) => mark === given.decimal) ?? (points ? "." : null);
  const bill = { services, mapping, timeZone, models, currency, decimal };
  const { lines, leftOut } = await readBill(rowsIn(text), bill);
  if (lines.length === 0) refuse("The file contains no line of a bill.");
  const days = daysOf(lines, readDays(given.from, given.to));
  const foreign = [...new Set(lines.map((line) => line.currency))].filter((code) => code !== "USD");
  if (rate !== null && foreign.length > 1) {
    refuse(`rate: The file has ${foreign.join(" and ")}. Set \`rates\` of the account instead.`);
  }
  const rates = rate === null ? {} : Object.fromEntries(foreign.map((code) => [code, rate]));
  const read = { ...summaryOf(account.name, days, lines), ...(leftOut > 0 && { left_out: leftOut }) };
  await audited(deps.database, origin, async (tx, audit) => {
    await storeBill(tx, { account, days, lines, source: "file", rates, now: deps.clock.now() });
    await audit({ action: "vendor_bill.read", subject: account.name, after: read });
  });
  return read;
}

/** The days that a file covers: those of its lines, or all from a first to a last one. @throws GatewayError invalid_request */
function daysOf(lines: readonly { day: string }[], { from, to }: BillFilter): string[] {
  const days = [...new Set(lines.map(({ day }) => day))].sort();
  if (from === undefined && to === undefined) return days;
  const window = { from: from ?? days[0] ?? "", to: to ?? days.at(-1) ?? "" };
  requireFew(window);
  const covered = daysIn(window);
  const other = days.find((day) => !covered.includes(day));
  if (other !== undefined)
    refuse(`from: The file has a line of ${other}, which is not among the days given.`);
  return covered;
}

/** @throws GatewayError invalid_request */
function ownMapping(text: string | undefined): Mapping {
  if (text === undefined) return {};
  const given: unknown = parsedJson(text);
  const isMapping = isRecord(given) && Object.keys(given).every((name) => MAPPED.some((it) => it === name));
  if (!isMapping || !Object.values(given).every((column) => typeof column === "string")) {
    const example = '{"day":"Date","amount":"Cost"}';
    refuse(`mapping: Expected columns such as ${example}.`);
  }
  return Object.fromEntries(Object.entries(given).map(([name, column]) => [name, [String(column)]]));
}

const IS_JSON = /^\s*[[{]/;

/** @throws GatewayError invalid_request */
function* rowsIn(text: string): Generator<CsvRow> {
  if (!IS_JSON.test(text)) return yield* csvRows(text);
  const value = exactJson(text);
  const list = isRecord(value) ? (value["data"] ?? [value]) : (value ?? text.trim().split("\n"));
  if (!Array.isArray(list)) refuse(NO_ROWS);
  for (const it of list) {
    const row: unknown = typeof it === "string" ? exactJson(it) : it;
    yield Object.fromEntries(flat(isRecord(row) ? row : refuse(NO_ROWS), ""));
  }
}

const NO_ROWS = "Expected CSV, or a JSON list of objects.";

/** Members of members by their path, such as `sku.description`; a list is JSON. */
const flat = (row: Record<string, unknown>, path: string): [string, string][] =>
  Object.entries(row).flatMap(([name, field]): [string, string][] => {
    if (isRecord(field)) return flat(field, `${path}${name}.`);
    return [[`${path}${name}`, Array.isArray(field) ? JSON.stringify(field) : String(field ?? "")]];
  });
