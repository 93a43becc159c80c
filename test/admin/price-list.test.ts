import { afterAll, beforeAll, expect, test } from "bun:test";
import { findProvider } from "@pydantic/genai-prices";
import { requests } from "#drizzle/schema/records.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { recordAt } from "./records.ts";
import { fault, type World, world } from "./world.ts";

/** The file as it is published: an array of providers. */
let file: unknown = [];
let answers = 0;
const server = Bun.serve({
  port: 0,
  fetch: ({ url }) => {
    answers += 1;
    if (url.endsWith("/moved")) return Response.redirect("/file");
    return file instanceof Response ? file.clone() : Response.json(file);
  },
});
let it: World;
beforeAll(async () => {
  it = await world({ pricesUrl: `${server.url}file` });
  await it.call("PUT", "/providers/anthropic", { kind: "anthropic", credential: "sk-ant-0123456789" });
});
afterAll(() => server.stop(true));

const PRICES = { input_mtok: 2, output_mtok: 10 };
const published = (models: object[]) => [{ id: "anthropic", name: "Anthropic", api_pattern: "x", models }];
const entry = (id: string, prices: object = PRICES, match: object = { equals: id }) => ({
  id,
  match,
  prices,
});
const refresh = async () => (await it.call("POST", "/prices/refresh")).body;
const changes = async () => (await it.call("GET", "/prices/changes")).body;
const costOf = (model: string, at: string) => {
  const directory = it.directory.current();
  const provider = directory.providers.get("anthropic");
  if (!provider) throw new Error("no provider");
  const price = priceBook(directory.prices, PROVIDERS, directory).priceOf(provider, model, Date.parse(at));
  return price && [price.rates.input?.usdPerUnit, price.entry];
};
const pinned = () =>
  findProvider({ providerId: "anthropic" })?.models.find(({ id }) => id === "claude-opus-4-1");

test("a new model is priced since the refresh, and its older unpriced records are offered for restatement", async () => {
  const before = recordAt(new Date(Date.now() - 3_600_000).toISOString(), {
    ...{ provider: "anthropic", model: "claude-novel-9", unpriced: true },
    ...{ uncachedInputTokens: 1_000_000, inputTokens: 1_000_000, outputTokens: 0 },
  });
  await it.database.db.insert(requests).values(before);
  expect(costOf("claude-novel-9", "2026-11-28")).toBeNull();
  file = published([
    entry("claude-novel-9", PRICES, { or: [{ equals: "claude-novel-9" }, { starts_with: "claude-nov" }] }),
    entry("bad", { input_mtok: -1 }),
  ]);
  expect(await refresh()).toEqual({
    fetched_at: expect.any(String),
    new_models: 1,
    waiting: 0,
    missing: expect.any(Number),
  });
  expect(costOf("claude-novel-9", "2026-11-28")).toEqual(["0.000002", "list:anthropic/claude-novel-9"]);
  expect(costOf("claude-novel-10", "2026-11-28")).toBeNull();
  const { data, fetched_at, fetches } = await changes();
  expect([fetches, fetched_at]).toEqual([true, expect.any(String)]);
  expect(data).toEqual([
    expect.objectContaining({
      ...{ state: "new", provider: "anthropic", model: "claude-novel-9", before: null, after: PRICES },
      offers: [{ model: "claude-novel-9", from: before.startedAt, to: expect.any(String), records: 1 }],
    }),
  ]);
  const [{ offers }] = data;
  const { records: _, ...offer } = offers[0];
  expect((await it.call("GET", `/requests/${before.id}`)).body.cost_usd).toBeNull();
  const dry = (await it.call("POST", "/prices/restate", { ...offer, dry_run: true })).body;
  expect(dry).toMatchObject({ restated_records: 1, new_cost_usd: "2" });
  expect(await refresh()).toMatchObject({ new_models: 0, waiting: 0 });
});

test("a changed price waits: approved it counts from then on, and dismissed it is not offered again", async () => {
  const model = pinned();
  if (!model) throw new Error("not in the list");
  const usual = costOf(model.id, "2026-11-01");
  const changed = { ...(model.prices as object), input_mtok: 7 };
  file = published([entry(model.id, changed, model.match)]);
  expect(await refresh()).toMatchObject({ new_models: 0, waiting: 1 });
  expect(await refresh()).toMatchObject({ waiting: 0 });
  const [row] = (await changes()).data;
  expect(row).toMatchObject({ state: "waiting", model: model.id, after: changed, offers: [] });
  expect(row.before).toEqual(JSON.parse(JSON.stringify(model.prices)));
  expect(costOf(model.id, "2026-11-20")).toEqual(usual);

  expect((await it.call("POST", `/prices/changes/${row.id}/dismiss`)).body).toMatchObject({
    state: "dismissed",
  });
  expect(await refresh()).toMatchObject({ waiting: 0 });
  expect(await fault(it.call("POST", `/prices/changes/${row.id}/approve`, {}))).toStartWith("422 ");

  file = published([entry(model.id, { ...changed, input_mtok: 8 }, model.match)]);
  expect(await refresh()).toMatchObject({ waiting: 1 });
  const [next] = (await changes()).data;
  const from = { effective_from: "2026-11-10T00:00:30Z" };
  expect((await it.call("POST", `/prices/changes/${next.id}/approve`, from)).body).toMatchObject({
    state: "approved",
    effective_from: "2026-11-10T00:01:00.000Z",
  });
  expect([costOf(model.id, "2026-11-10"), costOf(model.id, "2026-11-11")]).toEqual([
    usual,
    ["0.000008", usual?.[1]],
  ]);
  expect(await refresh()).toMatchObject({ waiting: 0 });
  const { body } = await it.call("GET", "/prices/in-force");
  expect(body.list).toMatchObject({ fetched: expect.any(String), warning: null });
});

test("models that the list no longer has keep their price, and are named", async () => {
  const model = pinned();
  if (!model) throw new Error("not in the list");
  const usual = costOf(model.id, "2026-11-01");
  const others = findProvider({ providerId: "anthropic" })?.models.filter(({ id }) => id !== model.id) ?? [];
  file = published([...others, entry("claude-novel-9")]);
  await refresh();
  const { missing } = await changes();
  expect(missing.filter((name: string) => name.startsWith("anthropic/"))).toEqual([`anthropic/${model.id}`]);
  // A provider that is missing as a whole is one entry.
  expect(missing).toContain("openai/*");
  expect(costOf(model.id, "2026-11-01")).toEqual(usual);
  file = published([...others, model, entry("claude-novel-9")]);
  expect((await refresh()).missing).toBe((await changes()).missing.length);
  expect((await changes()).missing).not.toContain(`anthropic/${model.id}`);
});

test("with prices_auto the unpriced records of this month are priced at once", async () => {
  const row = recordAt(new Date().toISOString(), {
    ...{ provider: "anthropic", model: "claude-auto-1", unpriced: true },
    ...{ uncachedInputTokens: 1_000_000, inputTokens: 1_000_000, outputTokens: 0 },
  });
  await it.database.db.insert(requests).values(row);
  await it.call("PATCH", "/settings", { prices_auto: true });
  file = published([entry("claude-auto-1")]);
  await refresh();
  const [job] = (await it.call("GET", "/prices/reprice")).body.data;
  expect(job).toMatchObject({
    state: "running",
    from: expect.stringMatching(/-01T00:00:00.000Z$/),
    dry_run: false,
  });
});

test("what is no list changes nothing, and without an address nothing is fetched", async () => {
  const states = async () =>
    (await changes()).data.map(({ id, state }: Record<string, string>) => [id, state]);
  const known = await states();
  for (const wrong of [
    { providers: [] },
    [],
    new Response("gone", { status: 404 }),
    new Response("<html>"),
  ]) {
    file = wrong;
    expect((await it.call("POST", "/prices/refresh")).status).toBeGreaterThanOrEqual(500);
  }
  expect(await states()).toEqual(known);
  const without = await world();
  const asked = answers;
  expect(await fault(without.call("POST", "/prices/refresh"))).toStartWith("409 PRICES_URL is not set");
  expect(answers).toBe(asked);
});
