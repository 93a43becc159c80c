import { beforeAll, describe, expect, test } from "bun:test";
import type { Discount } from "#gateway/directory.ts";
import { priceAnswer } from "#gateway/pricing/price-answer.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { NO_USAGE } from "#shared/usage.ts";
import { callOnce } from "#test/limits/world.ts";
import { scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const FROM = Date.parse("2026-11-01T00:00:00Z");
const discount = (it: Partial<Discount>): Discount => ({
  id: "d1",
  provider: "openai",
  percent: "10",
  fromMs: FROM,
  toMs: null,
  models: null,
  tiers: null,
  ...it,
});

/** A million tokens in and out of gpt-4o (2.50 and 10 USD, developers.openai.com/api/docs/pricing, 2026-11-28). */
function costOf(discounts: readonly Discount[], it: { at?: string; tier?: string; provider?: string } = {}) {
  const book = priceBook([], PROVIDERS, { discounts });
  const usage = { ...NO_USAGE, uncachedInputTokens: 1_000_000, outputTokens: 1_000_000 };
  const { costUsd, listCostUsd, basis, price } = priceAnswer(book, {
    provider: { kind: "openai", name: it.provider ?? "openai", location: null },
    model: "gpt-4o",
    responseModel: "gpt-4o",
    serviceTier: it.tier ?? null,
    reportedCostUsd: null,
    usage,
    at: new Date(it.at ?? "2026-11-20T12:00:00Z"),
  });
  return { costUsd, listCostUsd, basis, entry: price?.entry };
}

describe("a discount", () => {
  test("takes its percentage off the list price exactly, and the list's cost stays beside it", () => {
    expect(costOf([discount({ percent: "12.3456" })])).toEqual({
      costUsd: "10.9568",
      listCostUsd: "12.5",
      basis: "contract",
      entry: "discount:d1",
    });
  });

  test.each([
    ["before it begins", { at: "2026-10-31T23:59:59.999Z" }, {}, "12.5"],
    ["from its first moment", { at: "2026-11-01T00:00:00Z" }, {}, "11.25"],
    ["at its end", { at: "2026-11-20T12:00:00Z" }, { toMs: Date.parse("2026-11-20T12:00:00Z") }, "12.5"],
    ["at another provider", { provider: "other" }, {}, "12.5"],
    ["of a model that its globs match", {}, { models: ["gpt-5*", "gpt-4o"] }, "11.25"],
    ["of a model that they do not match", {}, { models: ["gpt-5*"] }, "12.5"],
    ["of its tier", {}, { tiers: ["standard"] }, "11.25"],
    ["of another tier", {}, { tiers: ["priority"] }, "12.5"],
    ["in a tier that it names", { tier: "priority" }, { tiers: ["priority"] }, "19.125"],
  ])("applies by time, provider, model and tier: a call %s", (_, call, part, expected) => {
    expect(costOf([discount(part)], call).costUsd).toBe(expected);
  });

  test("that names models wins over one for all, then the latest wins", () => {
    const all = discount({ id: "all", percent: "50", fromMs: FROM + 1 });
    const former = discount({ id: "former", percent: "20", models: ["gpt-4o*"] });
    const later = discount({ id: "later", percent: "30", models: ["gpt-*"], fromMs: FROM + 1 });
    for (const given of [
      [all, former, later],
      [later, former, all],
    ])
      expect(costOf(given).entry).toBe("discount:later");
    expect(costOf([all, former]).entry).toBe("discount:former");
  });
});

describe("discounts of an administrator", () => {
  let gateway: WiredGateway;
  beforeAll(async () => {
    const upstream = await scriptedUpstream(async ({ body }, reply) => {
      const { model } = JSON.parse(body);
      const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
      const message = { role: "assistant", content: "done" };
      reply.json({ id: "c", object: "chat.completion", model, choices: [{ index: 0, message }], usage });
    });
    gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: "http://127.0.0.1:9" });
  });
  const costs = async (session: string) => {
    expect((await callOnce(gateway.url, gateway.secret, { model: "gpt-4o", session })).status).toBe(200);
    const [row] = (await gateway.records(session)) as unknown as Record<string, unknown>[];
    return [row?.["cost_usd"], row?.["list_cost_usd"], row?.["cost_basis"]];
  };

  test("count from the next call on, not where a price of one's own does, and never in the past", async () => {
    expect(await costs("before")).toEqual(["2.5", null, null]);
    const body = { provider: "chat-vendor", percent: 8, effective_from: "2026-01-01", models: ["gpt-4*"] };
    const made = await gateway.admin<{ id: string }>("POST", "/discounts", body);
    expect(made).toMatchObject({ percent: "8", tiers: null, effective_to: null });
    expect(await costs("discounted")).toEqual(["2.3", "2.5", "contract"]);
    const changed = await gateway.admin("PATCH", `/discounts/${made.id}`, {
      percent: "20",
      tiers: ["standard"],
    });
    expect(changed).toMatchObject({ percent: "20", models: ["gpt-4*"], tiers: ["standard"] });
    expect(await costs("changed")).toEqual(["2", "2.5", "contract"]);
    const own = { provider: "chat-vendor", model: "gpt-4o", effective_from: "2026-01-01", input: "1" };
    await gateway.admin("POST", "/prices", own);
    expect(await costs("own")).toEqual(["1", "2.5", "contract"]);
    await gateway.admin("DELETE", `/discounts/${made.id}`, undefined);
    const [former] = (await gateway.records("discounted")) as unknown as Record<string, unknown>[];
    expect(former?.["cost_usd"]).toBe("2.3");
  });

  test.each([
    [{ percent: 0 }, "/percent: Expected a percentage above 0"],
    [{ percent: "100.0001" }, "/percent: Expected a percentage above 0"],
    [{ percent: "1.23456" }, "/percent: Expected a percentage above 0"],
    [{ models: [] }, "/models"],
    [{ effective_to: "2025-01-01" }, "/effective_to: Expected a time after effective_from."],
    [{ provider: "nobody" }, "/provider: No provider is named nobody."],
    [{ discount: 3 }, "/discount: Unexpected property"],
  ])("a body that is wrong is refused by the member: %p", async (part, message) => {
    const body = { provider: "chat-vendor", percent: 8, effective_from: "2026-01-01", ...part };
    expect(await gateway.admin("POST", "/discounts", body).catch(String)).toContain(message);
  });
});
