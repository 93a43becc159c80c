import { beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { requests } from "#drizzle/schema/records.ts";
import { PRICE_LIST } from "#gateway/pricing/price-list.ts";
import { recordAt } from "./records.ts";
import { fault, type World, world } from "./world.ts";

let it: World;
beforeAll(async () => {
  it = await world();
});
const PRICE = { model: "own-model", effective_from: "2026-11-01", input: 2.5, output: "10" };

test("the version of the built-in list is the installed one", async () => {
  const { dependencies } = await Bun.file("package.json").json();
  expect(dependencies[PRICE_LIST.name]).toBe(PRICE_LIST.version);
});

describe("prices", () => {
  test("amounts are exact decimals, whether given as a number or as digits", async () => {
    const answer = await it.call("POST", "/prices", {
      ...PRICE,
      provider: "echo",
      cached_input: 0.1,
      cache_write_5m: "0.000000000000000001",
      per_character: 1.5e-7,
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.any(String),
      provider: "echo",
      model: "own-model",
      effective_from: "2026-11-01T00:00:00.000Z",
      tier: "standard",
      multiplier: null,
      input: "2.5",
      output: "10",
      cached_input: "0.1",
      cache_write_5m: "0.000000000000000001",
      cache_write_1h: null,
      per_image: null,
      per_character: "0.00000015",
      per_call: null,
      created_at: expect.any(String),
    });
    expect((await it.call("GET", `/prices/${answer.body.id}`)).body).toEqual(answer.body);
  });

  test("a price is in the directory before it is answered, the newest in force first", async () => {
    const later = await it.call("POST", "/prices", { ...PRICE, effective_from: "2026-12-01T00:00:00+02:00" });
    await it.call("POST", "/prices", { ...PRICE, effective_from: "2026-11-15" });
    const [first] = it.directory.current().prices;
    expect(first).toMatchObject({ id: later.body.id, effectiveFromMs: Date.parse("2026-11-30T22:00:00Z") });
  });

  test("PATCH changes what it names, and null takes an amount away", async () => {
    const { id } = (await it.call("POST", "/prices", { ...PRICE, per_call: 1 })).body;
    const patched = await it.call("PATCH", `/prices/${id}`, { input: "3", per_call: null, per_image: 0 });
    expect(patched.body).toMatchObject({ input: "3", output: "10", per_call: null, per_image: "0" });
    expect((await it.call("DELETE", `/prices/${id}`)).status).toBe(204);
    expect((await it.call("GET", `/prices/${id}`)).status).toBe(404);
    expect((await it.call("DELETE", `/prices/${id}`)).status).toBe(404);
    expect((await it.call("PATCH", "/prices/nothing", {})).status).toBe(404);
  });

  test.each([
    [{ input: undefined, output: undefined }, "/input: Expected an amount such as input, or a multiplier."],
    [{ multiplier: 2 }, "/multiplier: Expected a multiplier or amounts, not both"],
    [
      { model: "m-z*" },
      "/model: Expected text of 1 to 256 characters, none of them a control character or *: a price names one model, so enter one for each",
    ],
    [{ tier: "flex", multiplier: 2 }, "/multiplier: Expected a multiplier or amounts, not both"],
    [{ input: -1 }, "/input: Expected a decimal number, 0 or more"],
    [{ input: "1e3" }, "/input: Expected a decimal number"],
    [{ input: "1,5" }, "/input: Expected a decimal number"],
    [{ input: null, output: null }, "/input: Expected an amount such as input, or a multiplier."],
    [{ effective_from: "now" }, "/effective_from: Expected an RFC 3339 date-time or a date"],
    [{ per_token: 1 }, "/per_token: Unexpected property"],
  ])("a body that is wrong is refused by the member: %p", async (part, message) => {
    expect(await fault(it.call("POST", "/prices", { ...PRICE, ...part }))).toStartWith(`400 ${message}`);
  });

  test("one amount is a price, and so is a multiplier, with a tier or without", async () => {
    const base = { model: "gpt-5.4", effective_from: "2026-11-01" };
    const one = await it.call("POST", "/prices", { ...base, cached_input: "0.1" });
    expect(one.body).toMatchObject({ input: null, output: null, cached_input: "0.1", multiplier: null });
    const discount = await it.call("POST", "/prices", { ...base, multiplier: 0.9 });
    expect(discount.body).toMatchObject({ input: null, tier: "standard", multiplier: "0.9" });
    const patched = await it.call("PATCH", `/prices/${one.body.id}`, { multiplier: 0.8, cached_input: null });
    expect(patched.body).toMatchObject({ cached_input: null, multiplier: "0.8" });
    expect(await fault(it.call("PATCH", `/prices/${one.body.id}`, { model: "gpt-*" }))).toStartWith(
      "400 /model",
    );
  });

  test("a price names a provider that exists, or none", async () => {
    expect(await fault(it.call("POST", "/prices", { ...PRICE, provider: "nobody" }))).toBe(
      "422 /provider: No provider is named nobody.",
    );
  });
});

describe("pricing again", () => {
  const IN_WINDOW = "2026-10-10T12:00:00.000Z";
  const WINDOW = { from: "2026-10-01", to: "2026-10-31" };
  const reprice = async (body: object) => (await it.call("POST", "/prices/reprice", body)).body;
  const stored = async (id: string) =>
    (await it.database.db.select().from(requests).where(eq(requests.id, id)))[0];

  test("unpriced records get their price from stored counts; a dry run only tells; the rest is left alone", async () => {
    const counts = {
      usageSource: "provider",
      uncachedInputTokens: 1000,
      inputTokens: 1000,
      outputTokens: 500,
    };
    const unpriced = { provider: "echo", model: "new-model", unpriced: true, ...counts };
    const rows = [
      recordAt(IN_WINDOW, unpriced),
      recordAt("2026-10-31T23:59:59.999Z", unpriced),
      recordAt("2026-11-01T00:00:00.000Z", unpriced),
      recordAt(IN_WINDOW, { ...unpriced, model: "never-priced" }),
      recordAt(IN_WINDOW, {
        ...unpriced,
        uncachedInputTokens: null,
        outputTokens: null,
        usageSource: "none",
      }),
      recordAt(IN_WINDOW, { ...unpriced, provider: "deleted" }),
      recordAt(IN_WINDOW, { provider: "echo", model: "new-model", costUsd: "0.5", ...counts }),
    ];
    await it.database.db.insert(requests).values(rows);
    await it.call("POST", "/prices", {
      model: "new-model",
      effective_from: "2026-01-01",
      input: 2,
      output: 4,
    });
    await it.call("POST", "/prices", {
      model: "new-model",
      effective_from: "2026-11-01",
      input: 20,
      output: 40,
    });

    const outcome = {
      from: "2026-10-01T00:00:00.000Z",
      to: "2026-11-01T00:00:00.000Z",
      unpriced_records: 5,
      repriced_records: 2,
      old_cost_usd: "0.5",
      new_cost_usd: "0.508",
      closed_months: [],
    };
    expect(await reprice({ ...WINDOW, dry_run: true })).toEqual({ dry_run: true, ...outcome });
    expect((await stored(rows[0]!.id))?.unpriced).toBe(true);

    expect(await reprice(WINDOW)).toEqual({ dry_run: false, ...outcome });
    expect(await stored(rows[0]!.id)).toMatchObject({
      unpriced: false,
      costUsd: "0.004",
      tokenCostUsd: "0.004",
      costBasis: "contract",
      listCostUsd: null,
      price: expect.stringMatching(/^input 1000 [\d.]+\|output \d+ [\d.]+\|repriced \S+\|override:/),
    });
    // Old and new are both kept: with the record, and in the audit.
    const { cost } = (await it.call("GET", `/requests/${rows[0]!.id}`)).body;
    expect(cost).toMatchObject({ repriced_at: expect.any(String), usage_source: "provider" });
    expect(cost.reason).toEndWith("until then its cost was unknown.");
    const [entry] = (await it.call("GET", "/audit?limit=1")).body.data;
    expect(entry).toMatchObject({
      action: "prices.repriced",
      subject: "2026-10-01T00:00:00.000Z to 2026-11-01T00:00:00.000Z",
      before: { cost_usd: "0.5" },
      after: { cost_usd: "0.508", repriced_records: 2 },
    });
    expect((await stored(rows[2]!.id))?.unpriced).toBe(true);
    expect((await stored(rows[6]!.id))?.costUsd).toBe("0.5");

    expect(await reprice(WINDOW)).toEqual({
      ...outcome,
      dry_run: false,
      unpriced_records: 3,
      repriced_records: 0,
      old_cost_usd: "0.508",
    });
  });

  test("more records than one batch are all priced", async () => {
    const row = {
      provider: "echo",
      model: "many",
      unpriced: true,
      uncachedInputTokens: 1_000_000,
      outputTokens: 0,
    };
    const rows = Array.from({ length: 1201 }, () => recordAt("2026-05-05T05:05:05.000Z", row));
    for (let at = 0; at < rows.length; at += 300) {
      await it.database.db.insert(requests).values(rows.slice(at, at + 300));
    }
    await it.call("POST", "/prices", {
      model: "many",
      effective_from: "2026-01-01",
      input: "0.1",
      output: 1,
    });
    const answer = await reprice({ from: "2026-05-05", to: "2026-05-05" });
    expect(answer).toMatchObject({ unpriced_records: 1201, repriced_records: 1201, new_cost_usd: "120.1" });
  });

  test.each([
    [{ from: "2026-10-02", to: "2026-10-01" }, "/to: Expected a time after /from"],
    [{ from: "2026-10-02" }, "/to: Expected required property"],
    [{ from: "yesterday", to: "2026-10-01" }, "/from: Expected an RFC 3339"],
    [{ ...WINDOW, dry: true }, "/dry: Unexpected property"],
  ])("a window that is wrong is refused: %p", async (body, message) => {
    expect(await fault(it.call("POST", "/prices/reprice", body))).toStartWith(`400 ${message}`);
  });
});
