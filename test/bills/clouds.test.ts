import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ReconciledAccount, Reconciliation } from "#shared/admin/reconciliation.ts";
import { ADMIN_KEY } from "../support/gateway-process.ts";
import { type WiredGateway, wiredGateway } from "../support/wired-gateway.ts";
import { type Asked, type Billed, type CloudVendor, cloudVendor, usdOf } from "./cloud-vendors.ts";

let vendor: CloudVendor;
let gateway: WiredGateway;
let calls = 0;

const GEMINI = "gemini-2.5-flash";
const IMAGES = "gemini-2.5-flash-image";
const CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA = "amazon.nova-pro-v1:0";
const ROUTED = "openai/gpt-4.1";

beforeAll(async () => {
  vendor = await cloudVendor();
  gateway = await wiredGateway({ chat: "http://127.0.0.1:1/v1", messages: "http://127.0.0.1:1" });
  const provider = (name: string, body: object) =>
    gateway.admin("PUT", `/providers/${name}`, {
      ...{ credential: "k", base_url: vendor.url, allow_private_network: true, ...body },
    });
  await gateway.admin("PATCH", "/providers/chat-vendor", { enabled: false });
  await provider("gemini", { kind: "gemini", base_url: `${vendor.url}/v1beta/openai`, models: ["gemini-*"] });
  await provider("aws", { kind: "bedrock", models: ["anthropic.*", "*.nova-*"] });
  await provider("azure", { kind: "azure", models: ["gpt-4o", "gpt-5.4"] });
  await provider("router", { kind: "openrouter", base_url: `${vendor.url}/router/v1`, models: ["openai/*"] });
});
afterAll(() => gateway.close());

const text = [{ role: "user", content: "Weather?" }];
const BODIES = {
  gemini: (model: string, stream: boolean) => ({
    path: `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: { contents: [{ role: "user", parts: [{ text: "Weather?" }] }] },
  }),
  messages: (model: string, stream: boolean) => ({
    path: "/v1/messages",
    body: { model, max_tokens: 100, messages: text, ...(stream && { stream }) },
  }),
  converse: (model: string, _: boolean) => ({
    path: `/model/${encodeURIComponent(model)}/converse`,
    body: { messages: [{ role: "user", content: [{ text: "Weather?" }] }] },
  }),
  chat: (model: string, stream: boolean) => ({
    path: "/v1/chat/completions",
    body: { model, messages: text, ...(stream && { stream }) },
  }),
} as const;

type Call = Asked & { stream?: true; leave?: true };

async function call(
  dialect: keyof typeof BODIES,
  model: string,
  { stream, leave, ...asked }: Call,
): Promise<void> {
  const gone = Promise.withResolvers<void>();
  vendor.answer({ ...asked, ...(leave && { waitsFor: gone.promise }) });
  calls += 1;
  const session = `call-${calls}`;
  const { path, body } = BODIES[dialect](model, stream === true);
  const left = new AbortController();
  const asking = fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-key": gateway.secret, "x-session-id": session },
    body: JSON.stringify(body),
    signal: left.signal,
  });
  if (leave) {
    await (await asking).body?.getReader().read();
    left.abort();
    await gateway.caughtUp();
    gone.resolve();
  } else await asking.then((response) => response.text()).catch(() => "");
  const [record] = await gateway.records(session);
  expect([model, record?.state]).toEqual([
    model,
    leave ? "client_gone" : asked.ending === "cut" ? "upstream_broken" : "ok",
  ]);
}

const DAY = "2026-11-20";
/** All calls were made at noon of the day of the invoice. */
const moved = () => gateway.sql`update requests set started_at = ${`${DAY}T12:00:00Z`}`;

async function reconciled(name: string, account: object, file: string): Promise<ReconciledAccount> {
  await moved();
  await gateway.admin("PUT", `/vendor-accounts/${name}`, { vendor: name, ...account });
  const response = await fetch(`${gateway.url}/admin/v1/vendor-bills/import?account=${name}`, {
    method: "POST",
    headers: { "content-type": "text/plain", authorization: `Bearer ${ADMIN_KEY}` },
    body: file,
  });
  expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ account: name })]);
  const query = `account=${name}&from=2026-11-19&to=2026-11-21`;
  const { accounts } = await gateway.admin<Reconciliation>("GET", `/reconciliation?${query}`);
  const [one] = accounts;
  if (!one) throw new Error("no such account");
  return one;
}
const named = ({ parts }: ReconciledAccount) =>
  Object.fromEntries(Object.entries(parts).filter(([, usd]) => usd !== "0"));

/** A file with a column for each member that any row has. */
function csv(rows: readonly Record<string, string | number>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value: string | number = "") => `"${String(value).replaceAll('"', '""')}"`;
  return [names, ...rows.map((row) => names.map((name) => row[name]))]
    .map((cells) => cells.map((value) => cell(value)).join(","))
    .join("\r\n");
}
const usd = ({ pico }: Billed) => usdOf(pico);
/** `count` of a unit of `size`, exactly. */
const units = (count: number, size: number) => String(count / size);

test("Google's export: hours of another time zone, credits beside their rows, taxes, and another service", async () => {
  const counts = { input: 1203, cached: 512, output: 333, thinking: 211 };
  await call("gemini", GEMINI, { counts: { input: 10, output: 7 } });
  await call("gemini", GEMINI, { counts });
  await call("gemini", GEMINI, { counts, stream: true });
  await call("gemini", GEMINI, { counts, tools: true });
  await call("gemini", GEMINI, { counts: { ...counts, audio: 97 } });
  await call("gemini", GEMINI, { counts: { input: 1203, output: 333 }, tier: "flex" });
  await call("gemini", GEMINI, { counts, stream: true, leave: true });
  await call("gemini", IMAGES, { counts: { input: 1000, image: 1290 } });
  const WORDS: Record<string, string> = {
    ...{
      input: "Text Input - Predictions",
      cached: "Text Input - Caching",
      audio: "Audio Input - Predictions",
    },
    ...{ output: "Text Output - Predictions", thinking: "Thinking Text Output - Predictions" },
    image: "Image Output token count",
  };
  const row = (description: string, cost: string, more: object = {}) => ({
    billing_account_id: "01D4EE-079462-DFD6EC",
    service: { id: "C7E2-9256-1C43", description: "Gemini API" },
    sku: { id: "0000-0000-0000", description },
    // The day begins at 08:00 UTC.
    ...{ usage_start_time: `${DAY} 18:00:00.000000 UTC`, usage_end_time: `${DAY} 19:00:00.000000 UTC` },
    ...{ project: { id: "acme", labels: [] }, currency: "USD", currency_conversion_rate: "1", credits: [] },
    ...{ cost, cost_type: "regular", invoice: { month: "202611" }, ...more },
  });
  const rows = () =>
    vendor.billed(/^gemini/).map((it) => {
      const model = it.model === IMAGES ? "Gemini 2.5 Flash Image" : "Gemini 2.5 Flash";
      const tier = it.tier === "standard" ? "" : "Flex ";
      const usage = {
        amount: it.count,
        unit: "count",
        amount_in_pricing_units: it.count,
        pricing_unit: "count",
      };
      return row(`${model} ${tier}${WORDS[it.kind]}`, usd(it), { usage });
    });
  const account = { time_zone: "America/Los_Angeles" };
  const clean = await reconciled("google", account, JSON.stringify(rows()));
  expect([named(clean), Number(clean.billed_usd) > 0.04]).toEqual([{}, true]);

  const [first, ...others] = rows();
  const credits = [
    { name: "Promotion", amount: "-0.0125", type: "PROMOTION" },
    { name: "Committed use", amount: "-0.001", type: "COMMITTED_USAGE_DISCOUNT" },
  ];
  const whole = [
    { ...first, credits },
    ...others,
    row("Tax", "0.25", { cost_type: "tax", sku: { description: "" } }),
    row("Rounding error", "0.000001", { cost_type: "rounding_error" }),
    row("N1 core", "77.5", { service: { description: "Compute Engine" } }),
  ];
  expect(named(await reconciled("google", account, JSON.stringify(whole)))).toEqual({
    taxes_and_credits: "0.236501",
  });
  await call("gemini", GEMINI, { counts, stream: true, ending: "cut" });
  expect(Object.keys(named(await reconciled("google", account, JSON.stringify(rows()))))).toEqual([
    "seen_in_part",
  ]);
  expect(
    named(
      await reconciled(
        "google",
        { ...account, rates: { EUR: "1.1" } },
        JSON.stringify(rows().map((it) => ({ ...it, currency: "EUR" }))),
      ),
    ),
  ).toMatchObject({
    currency: expect.any(String),
  });
});

test("AWS's report: models by usage type, cache writes, a refund, credits, taxes, and other services", async () => {
  const counts = {
    ...{ "input-tokens": 1203, "output-tokens": 499, "cache-read-input-token-count": 5001 },
    ...{ "cache-write-input-token-count": 307, "cache-write-1h-input-token-count": 211 },
  };
  await call("messages", CLAUDE, { counts: { "input-tokens": 10, "output-tokens": 7 } });
  await call("messages", CLAUDE, { counts });
  await call("messages", CLAUDE, { counts, stream: true });
  await call("messages", CLAUDE, { counts, stream: true, leave: true });
  await call("converse", NOVA, { counts: { "input-tokens": 800, "output-tokens": 90 } });
  const NAMES: Record<string, string> = { [CLAUDE]: "Claude4.5Sonnet", [NOVA]: "NovaPro" };
  const row = (usageType: string, cost: string, more: object = {}) => ({
    ...{
      bill_billing_entity: "AWS",
      line_item_product_code: "AmazonBedrock",
      line_item_currency_code: "USD",
    },
    ...{ line_item_usage_start_date: `${DAY} 12:00:00.000`, line_item_usage_end_date: `${DAY} 13:00:00.000` },
    ...{ line_item_line_item_type: "Usage", line_item_usage_type: usageType, line_item_unblended_cost: cost },
    ...{
      line_item_usage_amount: "",
      pricing_unit: "",
      line_item_iam_principal: "arn:aws:iam::1:role/gateway",
    },
    ...more,
  });
  const rows = () =>
    vendor.billed(/^(anthropic|amazon)\./).map((it) =>
      row(`USE1-${NAMES[it.model]}-${it.kind}`, usd(it), {
        ...{ line_item_usage_amount: units(it.count, 1000), pricing_unit: "1K tokens" },
      }),
    );
  const models = Object.fromEntries(
    vendor.billed(/^(anthropic|amazon)\./).map((it) => [`USE1-${NAMES[it.model]}-${it.kind}`, it.model]),
  );
  const clean = await reconciled("aws", { models }, csv(rows()));
  expect([named(clean), Number(clean.billed_usd) > 0.03]).toEqual([{}, true]);
  // Without the names of models, their units are compared together.
  expect(named(await reconciled("aws", {}, csv(rows())))).toEqual({});
  const type = (line_item_line_item_type: string) => ({ line_item_line_item_type });
  const whole = [
    ...rows(),
    row("", "-2.5", type("Credit")),
    row("", "-0.75", type("Refund")),
    row("", "1.2E-1", type("Tax")),
    row("", "-0.5", type("EdpDiscount")),
    row("USE1-Haiku-input-tokens", "0.004", { line_item_iam_principal: "arn:aws:iam::1:user/eve" }),
    row("BoxUsage:t3.micro", "9.5", { line_item_product_code: "AmazonEC2" }),
    row("", "0.95", { ...type("Tax"), line_item_product_code: "AmazonEC2" }),
  ];
  const keys = ["arn:aws:iam::1:role/gateway"];
  expect(named(await reconciled("aws", { models, keys }, csv(whole)))).toEqual({
    unknown_keys: "0.004",
    taxes_and_credits: "-3.63",
  });
  await call("messages", CLAUDE, { counts, stream: true, ending: "cut" });
  expect(Object.keys(named(await reconciled("aws", { models }, csv(rows()))))).toEqual(["seen_in_part"]);
});

test("Azure's cost details: meters with short names, dates of the American kind, a refund, and another currency", async () => {
  const counts = { Inp: 1011, "cchd Inp": 512, Outp: 333 };
  const newer = { Inp: 1011, "Cd Inp": 512, Outp: 333 };
  await call("chat", "gpt-4o", { counts });
  await call("chat", "gpt-4o", { counts, stream: true });
  await call("chat", "gpt-4o", { counts, tools: true });
  await call("chat", "gpt-5.4", { counts: newer });
  await call("chat", "gpt-4o", { counts, stream: true, leave: true });
  const row = (meterName: string, cost: string, more: object = {}) => ({
    ...{
      invoiceId: "",
      date: "11/20/2026",
      meterCategory: "Foundry Models",
      meterSubCategory: "Azure OpenAI",
    },
    ...{ meterName, quantity: "", unitOfMeasure: "", chargeType: "Usage", publisherType: "Azure" },
    ...{ billingCurrency: "USD", costInBillingCurrency: cost, ...more },
  });
  const meterOf = ({ model, tier, kind }: Billed) =>
    model === "gpt-5.4"
      ? `5.4 ${tier === "pp" ? "pp " : ""}${kind.replace("Outp", "opt")} Gl 1M Tokens`
      : `gpt 4o 0806 ${kind} glbl Tokens`;
  const rows = () =>
    vendor.billed(/^gpt-/).map((it) => {
      const [size, unitOfMeasure] = it.model === "gpt-5.4" ? [1_000_000, "1M"] : [1000, "1K"];
      return row(meterOf(it), usd(it), { quantity: units(it.count, size), unitOfMeasure });
    });
  const models = () => Object.fromEntries(vendor.billed(/^gpt-/).map((it) => [meterOf(it), it.model]));
  const clean = await reconciled("azure", { models: models() }, csv(rows()));
  expect([named(clean), Number(clean.billed_usd) > 0.03]).toEqual([{}, true]);
  const whole = [
    ...rows(),
    row("gpt 4o 0806 Outp glbl Tokens", "-0.4", { chargeType: "Refund" }),
    row("", "0.19", { chargeType: "Tax" }),
    row("Provisioned Managed Global", "12", { chargeType: "Purchase" }),
    row("D2s v5", "3.5", { meterCategory: "Virtual Machines" }),
  ];
  expect(named(await reconciled("azure", { models: models() }, csv(whole)))).toEqual({
    taxes_and_credits: "11.79",
  });
  const inPounds = rows().map((it) => ({ ...it, billingCurrency: "GBP" }));
  const unconverted = await reconciled("azure", { models: models() }, csv(inPounds));
  expect([Object.keys(named(unconverted)), Object.keys(unconverted.unconverted)]).toEqual([
    ["currency"],
    ["GBP"],
  ]);
  const converted = await reconciled("azure", { models: models(), rates: { GBP: "1.25" } }, csv(inPounds));
  expect([Object.keys(named(converted)), Number(named(converted)["currency"])]).toEqual([
    ["currency"],
    expect.closeTo(Number(clean.billed_usd) * 0.25, 12),
  ]);
  // Its price is not published.
  await call("chat", "gpt-5.4", { counts: newer, tier: "pp" });
  expect(named(await reconciled("azure", { models: models() }, csv(rows())))).toEqual({
    unpriced: "0.015301",
  });
  await call("chat", "gpt-4o", { counts, stream: true, ending: "cut" });
  expect(Object.keys(named(await reconciled("azure", { models: models() }, csv(rows()))))).toEqual([
    "unpriced",
    "seen_in_part",
  ]);
});

test("OpenRouter's activity: a day and model in one row, at the cost that each answer told", async () => {
  await call("chat", ROUTED, { counts: { Inp: 1000, Outp: 200, microUsd: 3600 } });
  await call("chat", ROUTED, { counts: { Inp: 500, Outp: 100, microUsd: 1800 }, stream: true });
  const billed = vendor.billed(/^openai\//);
  const of = (kind: string) => billed.find((it) => it.kind === kind);
  const row = (date: string, usage: string, tokens: readonly [number, number]) => ({
    ...{ date, model: ROUTED, model_permaslug: "openai/gpt-4.1-2025-04-14", provider_name: "OpenAI" },
    ...{
      usage,
      byok_usage_inference: "0",
      requests: 2,
      prompt_tokens: tokens[0],
      completion_tokens: tokens[1],
    },
    reasoning_tokens: 0,
  });
  const sum = usdOf(of("microUsd")?.pico ?? 0n);
  const tokens = [of("Inp")?.count ?? 0, of("Outp")?.count ?? 0] as const;
  const { parts, billed_usd } = await reconciled("openrouter", {}, csv([row(DAY, sum, tokens)]));
  expect([billed_usd, parts.unexplained]).toEqual(["0.0054", "0"]);
});
