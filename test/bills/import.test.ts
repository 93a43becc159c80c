import { beforeAll, describe, expect, test } from "bun:test";
import { ADMIN_KEY, fault, type Json, type World, world } from "../admin/world.ts";

let it: World;
beforeAll(async () => {
  it = await world();
  const account = (name: string, body: object) => it.call("PUT", `/vendor-accounts/${name}`, body);
  await account("acme-aws", {
    vendor: "aws",
    models: { "USE1-Claude4.5Sonnet-input-tokens": "claude-sonnet-4-5" },
  });
  await account("acme-google", { vendor: "google", time_zone: "America/Los_Angeles", rates: { EUR: "1.1" } });
  await account("acme-azure", { vendor: "azure" });
  await account("acme-router", { vendor: "openrouter" });
  await account("acme", { vendor: "other", providers: ["echo"] });
});

const bill = (query: string, file: string) =>
  it.raw(`/vendor-bills/import?${query}`, {
    method: "POST",
    headers: { "content-type": "text/csv", authorization: `Bearer ${ADMIN_KEY}` },
    body: file,
  });
const lines = async (account: string): Promise<Json[]> =>
  (await it.call("GET", `/vendor-bills?account=${account}`)).body.data;

const FOCUS = `ChargePeriodStart,ChargePeriodEnd,BilledCost,BillingCurrency,ChargeCategory,ChargeDescription,ConsumedQuantity,ConsumedUnit,SkuMeter,x_Model
2026-11-01T00:00:00Z,2026-11-02T00:00:00Z,3.30,USD,Usage,"Sonnet, in",1.1,1M Tokens,Input Tokens,claude-sonnet-4-5
2026-11-01T00:00:00Z,2026-11-02T00:00:00Z,0.70,USD,Usage,"Sonnet, in",0.2,1M Tokens,Input Tokens,claude-sonnet-4-5
2026-11-01T00:00:00Z,2026-11-02T00:00:00Z,-1,USD,Credit,Promotion,,,,
2026-11-02T00:00:00Z,2026-11-03T00:00:00Z,1e-7,USD,Usage,Batch cache writes,4,Tokens,Batch 1h cache write tokens,claude-sonnet-4-5
2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,0.4,USD,Tax,VAT,,,,
`;

describe("a file", () => {
  test("of FOCUS is read by day and item, exactly, and twice the same", async () => {
    const first = await bill("account=acme&format=focus", FOCUS);
    expect([first.status, first.body]).toEqual([
      200,
      {
        account: "acme",
        from: "2026-11-01",
        to: "2026-11-02",
        days: 2,
        lines: 4,
        billed: { USD: "3.4000001" },
      },
    ]);
    const kept = await lines("acme");
    expect(kept).toEqual([
      {
        account: "acme",
        day: "2026-11-01",
        category: "usage",
        item: "Sonnet, in",
        model: "claude-sonnet-4-5",
        kind: "input",
        tier: "standard",
        key: null,
        quantity: "1300000",
        amount: "4",
        currency: "USD",
        rate: "1",
      },
      expect.objectContaining({ category: "credit", item: "Promotion", amount: "-1", quantity: null }),
      expect.objectContaining({ category: "tax", item: "VAT", amount: "0.4", day: "2026-11-01" }),
      expect.objectContaining({
        kind: "cache_write_1h",
        tier: "batch",
        amount: "0.0000001",
        day: "2026-11-02",
      }),
    ]);
    expect((await bill("account=acme&format=focus", FOCUS)).body).toEqual(first.body);
    expect(await lines("acme")).toEqual(kept);
  });

  test("replaces the days that it has, and no other", async () => {
    const rows = [
      { ChargePeriodStart: "2026-11-02T00:00Z", BilledCost: 9, BillingCurrency: "USD", x_Model: "m" },
    ];
    await bill("account=acme&format=focus", JSON.stringify(rows));
    expect((await lines("acme")).map(({ day, amount }) => [day, amount])).toEqual([
      ["2026-11-01", "4"],
      ["2026-11-01", "-1"],
      ["2026-11-01", "0.4"],
      ["2026-11-02", "9"],
    ]);
  });

  test("covers the days that it is said to: a day without a line has nothing billed then", async () => {
    const focus = (day: string) => [
      { ChargePeriodStart: day, BilledCost: 1, BillingCurrency: "USD", x_Model: "m" },
    ];
    for (const day of ["2026-11-21", "2026-11-22"]) await bill("account=acme", JSON.stringify(focus(day)));
    const revised = (days: string) => bill(`account=acme&${days}`, JSON.stringify(focus("2026-11-21")));
    expect(await fault(revised("from=2026-11-22&to=2026-11-23"))).toBe(
      "400 from: The file has a line of 2026-11-21, which is not among the days given.",
    );
    expect((await revised("from=2026-11-21&to=2026-11-24")).body).toMatchObject({
      ...{ from: "2026-11-21", to: "2026-11-24", days: 4, lines: 1 },
    });
    expect(await lines("acme&from=2026-11-20")).toHaveLength(1);
    const window = "account=acme&from=2026-11-21&to=2026-11-25";
    const [account] = (await it.call("GET", `/reconciliation?${window}`)).body.accounts;
    expect(account).toMatchObject({ days: 4, days_without_bill: ["2026-11-25"], billed_usd: "1" });
  });

  test.each([
    [
      "acme-aws",
      `line_item_usage_start_date,line_item_unblended_cost,line_item_currency_code,line_item_usage_amount,pricing_unit,line_item_usage_type,line_item_line_item_type
2026-11-01T05:00:00.000Z,0.003,USD,1,1K tokens,USE1-Claude4.5Sonnet-input-tokens,DiscountedUsage`,
      { model: "claude-sonnet-4-5", kind: "input", quantity: "1000", category: "usage", day: "2026-11-01" },
    ],
    [
      "acme-google",
      `usage_start_time,cost,currency,usage_amount,usage_unit,sku_description,cost_type
2026-11-02 06:00:00 UTC,0.30,EUR,1000,count,Gemini 2.5 Flash Text Output - Predictions,regular`,
      { kind: "output", quantity: "1000", amount: "0.3", currency: "EUR", rate: "1.1", day: "2026-11-01" },
    ],
    [
      "acme-azure",
      `date,costInBillingCurrency,billingCurrency,quantity,unitOfMeasure,meterName,chargeType
11/03/2026,0.02,CHF,4,1K,gpt-4o-0806-cchd-Inp-glbl Tokens,Usage`,
      { kind: "cache_read", quantity: "4000", currency: "CHF", rate: null, day: "2026-11-03", model: null },
    ],
    [
      "acme-router",
      `date,model,usage,prompt_tokens,completion_tokens
2026-11-04 00:00:00,openai/gpt-4o,0.0125,1000,500`,
      {
        model: "openai/gpt-4o",
        kind: null,
        tier: null,
        quantity: "1500",
        currency: "USD",
        day: "2026-11-04",
      },
    ],
  ])("of %s is known by its vendor's columns", async (account, file, line) => {
    expect((await bill(`account=${account}`, file)).status).toBe(200);
    expect(await lines(account)).toEqual([expect.objectContaining(line)]);
  });

  test("of any columns is read by a mapping, with a rate of its own", async () => {
    const mapping = encodeURIComponent(JSON.stringify({ day: "Tag", amount: "Betrag", model: "Modell" }));
    await bill(
      `account=acme&mapping=${mapping}&currency=EUR&rate=1.25`,
      'Tag,Modell,Betrag\n2026-10-01,m,"1,234.50"',
    );
    const [first] = await lines("acme");
    expect(first).toMatchObject({
      day: "2026-10-01",
      amount: "1234.5",
      currency: "EUR",
      rate: "1.25",
      model: "m",
    });
  });

  const own = encodeURIComponent(
    JSON.stringify({ day: "Day", amount: "Cost", currency: "Currency", quantity: "Count", kind: "Kind" }),
  );
  const read = async (file: string, more = "") => {
    const answer = await bill(`account=acme&mapping=${own}${more}`, file);
    return answer.status === 200 ? answer.body.billed : `400 ${answer.body.error.message}`;
  };

  test("has its numbers as they are written, or is refused: no mark is guessed", async () => {
    expect(await read('Day,Cost\n2026-10-02,"1,234,567.5"')).toEqual({ USD: "1234567.5" });
    for (const wrong of ["0,125", "12,50", "1,23,456", "1.234,56", "1,2345"]) {
      expect(await read(`Day,Cost\n2026-10-02,"${wrong}"`)).toBe("400 Row 2: its amount is not a number.");
    }
    expect(await read('Day,Cost\n2026-10-02,"0,125"', "&decimal=,")).toEqual({ USD: "0.125" });
    for (const by of [";", "\t"]) {
      const file = (amounts: string[]) =>
        `Day;Cost;Model\r\n${amounts.map((it) => `2026-10-02;${it};"a,b"`).join("\r\n")}`.replaceAll(";", by);
      expect(await read(file(["0,125", "1.234,50", "1.000.000", "0.5", "-3"]))).toEqual({
        USD: "1001232.125",
      });
      expect(await read(file(["1.234"]))).toBe(
        "400 Row 2: 1.234 can be read in two ways; set `decimal` to . or to ,.",
      );
      expect(await read(file(["1.234"]), "&decimal=.")).toEqual({ USD: "1.234" });
      expect(await read(file(["1.234"]), "&decimal=,")).toEqual({ USD: "1234" });
    }
  });

  test("of JSON keeps each digit of its numbers", async () => {
    const row =
      '{"Day":"2026-10-02","Cost":12345.000000000001234567,"Back":[{"amount":-0.12345678901234567891}]}';
    const mapping = encodeURIComponent('{"day":"Day","amount":"Cost","credits":"Back"}');
    for (const file of [row, `[${row}]`, `${row}\n${row.replaceAll(/[\d.]+(?=[,}])/g, "0")}`]) {
      const { body } = await bill(`account=acme&mapping=${mapping}`, file);
      expect(body.billed).toEqual({ USD: "12344.87654321098888888809" });
    }
  });

  test("loses no row and no field without a word", async () => {
    expect(await read("Day,Cost,Model\n2026-10-02,m,1,234.50")).toBe(
      "400 Row 2: it has 4 fields, and the first row 3.",
    );
    expect(await read("Day,Cost,Model\n2026-10-02,2,m\n2026-10-02,1")).toBe(
      "400 Row 3: it has 2 fields, and the first row 3.",
    );
    expect(await read("Day,Price\n2026-10-02,1")).toBe("400 Row 2: there is no amount (Cost).");
    expect(await read("Date,Cost\n2026-10-02,1")).toBe("400 Row 2: there is no day (Day).");
    expect(await read("Day,Cost,Currency\n2026-10-02,1,€")).toBe(
      "400 Row 2: its currency € is no code such as EUR.",
    );
    const rows = [
      { Day: "2026-10-02", Cost: 1.5 },
      { Day: "2026-10-02", Cost: "2" },
    ].map((row) => JSON.stringify(row));
    expect(await read(rows.join("\n"))).toEqual({ USD: "3.5" });
    expect(await read(`[${rows.join(",")},{"Model":"m"}]`)).toBe("400 Row 4: there is no amount (Cost).");
    const long = `\uFEFFDay,Cost,Model\r\n2026-10-02,1,"${'a ""long""\r\nname '.repeat(100_000)}"\r\n\r\n2026-10-02,2,\r\n`;
    expect(await read(long)).toEqual({ USD: "3" });
  });

  test("has one rate for its one foreign currency", async () => {
    const file = "Day,Cost,Currency\n2026-10-02,1,EUR\n2026-10-02,1,USD\n";
    expect(await read(`${file}2026-10-02,1,GBP\n`, "&rate=1.1")).toBe(
      "400 rate: The file has EUR and GBP. Set `rates` of the account instead.",
    );
    expect(await read(file, "&rate=1.1")).toEqual({ EUR: "1", USD: "1" });
    expect((await lines("acme&from=2026-10-02&to=2026-10-02")).map(({ rate }) => rate)).toEqual(["1.1", "1"]);
  });

  test("has the rates of its rows where the account has none", async () => {
    const google = (rates: string[], currency = "CHF") =>
      `usage_start_time,cost,currency,currency_conversion_rate,sku_description\n${rates
        .map((rate, i) => `2026-11-0${5 + i},1,${currency},${rate},Gemini 2.5 Flash Text Output`)
        .join("\n")}`;
    expect((await bill("account=acme-google", google(["0.8", "0.9", ""]))).status).toBe(200);
    const of = async (account: string) =>
      (await lines(`${account}&from=2026-11-05&to=2026-11-07`)).map(({ rate }) => rate);
    expect(await of("acme-google")).toEqual(["1.25", "1.111111111111111111111111", null]);
    await bill("account=acme-google", google(["0.8"], "EUR"));
    expect((await of("acme-google"))[0]).toBe("1.1");
    await bill("account=acme-google&rate=1.2", google(["0.8"]));
    expect((await of("acme-google"))[0]).toBe("1.2");
    expect(await fault(bill("account=acme-google", google(["0"])))).toBe(
      "400 Row 2: its rate is not above 0.",
    );
    const rated = encodeURIComponent(JSON.stringify({ day: "d", amount: "a", currency: "c", rate: "r" }));
    await bill(`account=acme&mapping=${rated}`, "d,a,c,r\n2026-11-05,1,USD,7\n2026-11-06,1,CHF,1.2");
    expect(await of("acme")).toEqual(["1", "1.2"]);
  });

  test("keeps what is given back apart from use", async () => {
    await read(
      "Day,Cost,Count,Kind\n2026-10-02,5,1000,input\n2026-10-02,-2,-400,input\n2026-10-02,-1,,input\n",
    );
    expect(
      (await lines("acme&from=2026-10-02&to=2026-10-02")).map((it) => [it.category, it.amount, it.quantity]),
    ).toEqual([
      ["usage", "5", "1000"],
      ["usage", "-2", "-400"],
      ["credit", "-1", null],
    ]);
  });

  test("that cannot be read is refused by row, and nothing is kept", async () => {
    const before = await lines("acme");
    const refused = async (query: string, file: string) => fault(bill(query, file));
    expect(await refused("account=acme", FOCUS.replace("0.70", "x"))).toBe(
      "400 Row 3: its amount is not a number.",
    );
    const mapping = `mapping=${encodeURIComponent(JSON.stringify({ day: "Day", amount: "Cost", quantity: "Count" }))}`;
    expect(await refused(`account=acme&${mapping}`, "Day,Cost,Count\n2026-11-02,1,x\n")).toBe(
      "400 Row 2: its quantity is not a number.",
    );
    expect(await refused("account=acme", FOCUS.replace("2026-11-02T00", "2026-11-31T00"))).toBe(
      "400 Row 2: its day is no date.",
    );
    expect(
      await refused("account=acme", FOCUS.replace("2026-11-02T00:00:00Z,3", "2026-12-01T00:00:00Z,3")),
    ).toBe("400 Row 2: it covers more than one day; export the bill by day.");
    expect(await refused("account=acme", "a,b\n")).toBe("400 The file contains no line of a bill.");
    expect(await refused("account=acme", 'a\n"x')).toBe(
      "400 Row 2: a quoted field does not end as it should.",
    );
    expect(await refused("account=none", FOCUS)).toBe("400 account: No vendor account is named none.");
    expect(await fault(it.call("GET", "/reconciliation?account=none"))).toBe(
      "400 account: No vendor account is named none.",
    );
    expect(await refused("account=acme&format=xls", FOCUS)).toStartWith(
      "400 format: Expected one of focus, aws",
    );
    expect(await refused("account=acme&mapping=[]", FOCUS)).toStartWith("400 mapping: Expected columns");
    expect(await lines("acme")).toEqual(before);
  });

  test("goes with its account", async () => {
    expect((await it.call("DELETE", "/vendor-accounts/acme")).status).toBe(204);
    expect(await lines("acme")).toEqual([]);
  });
});
