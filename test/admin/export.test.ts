import { beforeAll, describe, expect, test } from "bun:test";
import { parquetReadObjects } from "hyparquet";
import { connect } from "#drizzle/database.ts";
import { reportRunner } from "#gateway/reporting.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { type RequestFacts, seed } from "#test/reports/world.ts";
import { ADMIN_KEY, type World, world } from "./world.ts";

/**
 * The columns of FOCUS 1.4's Cost and Usage dataset as its specification lists them: type, whether null is allowed, and whether the
 * column is mandatory. Of the conditional ones those that unit pricing, usage measurement, sub-accounts and tags require.
 */
const PUBLISHED = `
BilledCost decimal no M, BillingAccountId string no M, BillingAccountName string yes M, BillingCurrency string no M,
BillingPeriodEnd datetime no M, BillingPeriodStart datetime no M, ChargeCategory string no M, ChargeClass string yes M,
ChargeDescription string yes M, ChargeFrequency string no R, ChargePeriodEnd datetime no M, ChargePeriodStart datetime no M,
ConsumedQuantity decimal yes C, ConsumedUnit string yes C, ContractedCost decimal no M, ContractedUnitPrice decimal yes C,
EffectiveCost decimal no M, HostProviderName string no M, InvoiceIssuerName string no M, ListCost decimal no M,
ListUnitPrice decimal yes C, PricingCategory string yes C, PricingQuantity decimal yes M, PricingUnit string yes M,
ServiceCategory string no M, ServiceName string no M, ServiceProviderName string no M, ServiceSubcategory string no R,
SkuId string yes C, SkuMeter string yes C, SkuPriceDetails json yes C, SkuPriceId string yes C, SubAccountId string yes C,
SubAccountName string yes C, SubAccountType string yes C, Tags json yes C`
  .split(",")
  .map((line) => line.trim().split(" ") as [name: string, type: string, nullable: string, level: string]);
const ALLOWED: Record<string, RegExp> = {
  BillingCurrency: /^[A-Z]{3}$/,
  ChargeCategory: /^(Usage|Purchase|Tax|Credit|Adjustment)$/,
  ChargeClass: /^Correction$/,
  ChargeFrequency: /^(One-Time|Recurring|Usage-Based)$/,
  PricingCategory: /^(Standard|Dynamic|Committed|Other)$/,
  ServiceCategory: /^AI and Machine Learning$/,
  ServiceSubcategory:
    /^(AI Platforms|Bots|Generative AI|Machine Learning|Natural Language Processing|Other \(AI .*\))$/,
};
const FORMS: Record<string, RegExp> = {
  decimal: /^-?\d+(\.\d+)?$/,
  datetime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  json: /^\{.*\}$/,
  string: /\S/,
};

/** Whole units of 1e-60, so that products are exact, too. */
const exact = (text: string, places = 60): bigint => {
  const [whole = "", decimals = ""] = text.replace("-", "").split(".");
  return BigInt(whole + decimals.padEnd(places, "0")) * (text.startsWith("-") ? -1n : 1n);
};
type Row = Record<string, string | null>;

let it: World;
const handled = (path: string) =>
  it.app.handle(
    new Request(`http://gateway.test${path}`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } }),
  );
async function call(path: string) {
  const answer = await handled(path);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
const WINDOW = "from=2026-10-30&to=2026-11-02";

beforeAll(async () => {
  it = await world();
  const sql = connect(it.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const one = { provider: "anthropic", model: "m1", teams: ["web", "all"], costCenter: "cc1", input: 17 };
  const plain = "input 17 0.000003|cache_read 900 0.0000003|output 5 0.000015|list:m1";
  const calls: RequestFacts[] = [
    { ...one, at: "2026-10-31T23:59:59Z", cost: "0.000396", price: plain },
    { ...one, at: "2026-11-01T00:00:00Z", cost: "0.000396", price: plain, tier: "priority" },
    // A third off, so that the list's part of each unit has no end.
    {
      ...one,
      at: "2026-11-01T01:00:00Z",
      cost: "0.000396",
      price: plain,
      basis: "contract",
      listCost: "0.000594",
    },
    {
      ...one,
      at: "2026-11-01T02:00:00Z",
      cost: "0.000396",
      price: plain,
      basis: "contract",
      listCost: "0.0007",
    },
    { ...one, at: "2026-11-01T03:00:00Z", cost: "0.5", basis: "vendor", listCost: "0.75", price: plain },
    { ...one, at: "2026-11-01T04:00:00Z", cost: "0.25", basis: "vendor", model: null, partial: true },
    { ...one, at: "2026-11-01T05:00:00Z", cost: null },
    { ...one, at: "2026-11-01T06:00:00Z", cost: "9", channel: "subscription" },
    { at: "2026-11-01T07:00:00Z", state: "denied", cost: "0" },
    {
      at: "2026-11-02T10:00:00Z",
      cost: "0.04",
      price: "image 2 0.02|list:img",
      provider: "openai",
      model: "=img",
    },
    { ...one, at: "2026-11-03T00:00:00Z", cost: "7" },
  ];
  await seed(sql, "default", { requests: calls });
  await sql.end();
});

const focus = async (): Promise<Row[]> => {
  const { text, headers, status } = await call(`/admin/v1/export?data=focus&format=ndjson&${WINDOW}`);
  expect([status, headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
};

describe("FOCUS 1.4", () => {
  test("rows keep the published rules: columns, order, types, nulls and allowed values", async () => {
    const rows = await focus();
    const names = Object.keys(rows[0] ?? {});
    expect(names.filter((name) => !name.startsWith("x_"))).toEqual(PUBLISHED.map(([name]) => name).sort());
    expect(names.findLastIndex((name) => !name.startsWith("x_"))).toBe(PUBLISHED.length - 1);
    for (const row of rows)
      for (const [name, type, nullable] of PUBLISHED) {
        const value = row[name] ?? null;
        if (value === null) expect([name, nullable]).toEqual([name, "yes"]);
        else
          expect([name, value]).toEqual([name, expect.stringMatching(ALLOWED[name] ?? FORMS[type] ?? /./)]);
      }
  });

  test("rows keep the rules between columns", async () => {
    for (const row of await focus()) {
      const of = (name: string) => row[name] ?? "";
      // Usage that is no correction has quantities, units and prices.
      for (const name of [
        "PricingQuantity",
        "PricingUnit",
        "ConsumedQuantity",
        "ConsumedUnit",
        "SkuId",
        "SkuPriceId",
      ])
        expect(of(name)).not.toBe("");
      for (const cost of ["List", "Contracted"]) {
        const product = exact(of(`${cost}UnitPrice`), 30) * exact(of("PricingQuantity"), 30);
        const off = product - exact(of(`${cost}Cost`));
        // Prices have 24 decimals, as money does.
        expect(off < 0n ? -off : off).toBeLessThan(exact(of("PricingQuantity")) / 10n ** 23n);
        expect(exact(of(`${cost}UnitPrice`))).toBeGreaterThanOrEqual(0n);
      }
      expect(row["SubAccountId"] === null).toBe(row["SubAccountType"] === null);
      expect(of("ChargePeriodStart") >= of("BillingPeriodStart")).toBe(true);
      expect(of("ChargePeriodEnd") <= of("BillingPeriodEnd")).toBe(true);
      for (const name of ["Tags", "SkuPriceDetails"])
        expect(typeof JSON.parse(row[name] ?? "{}")).toBe("object");
    }
  });

  test("their sums are the report's, to the last digit", async () => {
    // The bill of one day has taxes, that of another is a third of what was metered; a third day has none. Taxes and credits of
    // a month are its calls', though its first days have none.
    await it.call("PUT", "/providers/anthropic", { kind: "anthropic", credential: "sk-test" });
    await it.call("PUT", "/vendor-accounts/acme", { vendor: "anthropic" });
    const bill =
      "day,amount,category\n2026-10-31,0.000132,usage\n2026-11-01,1,usage\n2026-11-01,0.19,tax\n2026-10-01,0.05,tax\n2026-10-02,-0.01,credit\n";
    const mapping = encodeURIComponent('{"day":"day","amount":"amount","category":"category"}');
    const path = `/vendor-bills/import?account=acme&format=focus&mapping=${mapping}`;
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    expect(await it.raw(path, { method: "POST", body: bill, headers })).toMatchObject({ status: 200 });
    const term = { effective_from: "2026-10-01", effective_to: "2026-11-02", provider: "anthropic" };
    const credit = { name: "credit", kind: "credit", amount_usd: "0.3", worth_usd: "0.7", models: ["m1"] };
    expect((await it.call("POST", "/commitments", { ...credit, ...term })).status).toBe(201);
    const rows = await focus();
    const sum = (name: string, among = rows) => among.reduce((all, row) => all + exact(row[name] ?? ""), 0n);
    const runner = reportRunner({ url: it.url });
    const spec = checkSpec({
      ...{
        source: "requests",
        dimensions: [],
        measures: ["cost_usd", "list_cost_usd", "billed_cost_usd", "effective_cost_usd"],
        filters: {},
      },
      ...{ range: { from: "2026-10-30", to: "2026-11-02" }, compare: "none", view: "table" },
    });
    const { total } = await runner.run(spec, new Date("2026-11-20T00:00:00Z"));
    await runner.close();
    const billed = sum(
      "BilledCost",
      rows.filter((row) => String(row["x_BilledCostKnown"]) === "true"),
    );
    const usd = (amount: bigint) => Number(`${amount}e-60`);
    expect(total.current).toMatchObject({
      billed_cost_usd: usd(billed),
      effective_cost_usd: usd(sum("EffectiveCost")),
    });
    expect(usd(billed)).toBeCloseTo(1.230132, 18);
    expect(sum("BilledCost") - billed).toBe(exact("0.04"));
    expect(sum("EffectiveCost")).toBeLessThan(sum("ContractedCost"));
    expect(sum("ContractedCost")).toBe(exact("0.791584"));
    expect(total.current?.cost_usd).toBe(0.791584);
    const listed = sum(
      "ListCost",
      rows.filter((row) => String(row["x_ListCostKnown"]) === "true"),
    );
    expect(listed).toBe(exact("0.792086"));
    expect(total.current?.list_cost_usd).toBe(0.792086);
  });

  test("CSV and Parquet have the same rows, money exact in both", async () => {
    const rows = await focus();
    const { text } = await call(`/admin/v1/export?data=focus&format=csv&${WINDOW}`);
    expect(text.split("\r\n")).toHaveLength(rows.length + 2);
    expect(text).toContain(",'=img,");
    const bytes = await handled(`/admin/v1/export?data=focus&format=parquet&${WINDOW}`);
    const file = await bytes.arrayBuffer();
    const found = await parquetReadObjects({ file, utf8: true });
    expect(found).toHaveLength(rows.length);
    for (const [i, row] of rows.entries()) {
      expect(Number(found[i]?.["BilledCost"])).toBeCloseTo(Number(row["BilledCost"]), 15);
      expect(new Date(found[i]?.["ChargePeriodStart"]).toISOString().slice(0, 19)).toBe(
        (row["ChargePeriodStart"] ?? "").slice(0, 19),
      );
      expect(found[i]?.["SkuId"]).toBe(row["SkuId"] ?? "");
    }
  });
});

test("records are all there, more than a page of a list has, in each form", async () => {
  const sql = connect(it.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const many = Array.from({ length: 1_203 }, () => ({
    at: "2026-09-01T00:00:00Z",
    session: "many",
    cost: "0.1",
  }));
  await seed(sql, "default", { requests: many });
  await sql.end();
  const of = (format: string) => `/admin/v1/export?format=${format}&session=many`;
  const { text } = await call(of("ndjson"));
  const ids = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).id);
  expect(new Set(ids).size).toBe(1_203);
  expect((await call(of("csv"))).text.trimEnd().split("\r\n")).toHaveLength(1_204);
  const answer = await handled(of("parquet"));
  const rows = await parquetReadObjects({ file: await answer.arrayBuffer(), utf8: true });
  expect(rows.map(({ id }) => id)).toEqual(ids);
  expect(rows[0]).toMatchObject({ attempts: 1n, streamed: false });
  expect(rows[0]?.["cost_usd"]).toBeCloseTo(0.1, 12);
});

test.each([
  ["data=else", "data: Expected one of records, focus."],
  ["format=xlsx", "format: Expected one of ndjson, csv, parquet."],
  ["format=csv&format=csv", "format: Given twice."],
  ["data=focus&owner=ada", "owner: FOCUS takes data, format, from and to alone."],
  ["colour=red", "colour: Unknown parameter."],
])("%s is refused", async (query, message) => {
  const { status, body } = await it.call("GET", `/export?${query}`);
  expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)]);
});

test("each export is in the audit log", async () => {
  const { body } = await it.call("GET", "/audit?action=data.exported");
  expect(body.data.map(({ subject }: { subject: string }) => subject)).toEqual(
    expect.arrayContaining(["focus", "records"]),
  );
});
