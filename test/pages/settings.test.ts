import { beforeAll, describe, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { Page } from "playwright-core";
import { connect } from "#drizzle/database.ts";
import { ensurePartitions } from "#drizzle/partitions.ts";
import { newId } from "#shared/ids.ts";
import { linkFor } from "#test/identity/browser.ts";
import { atEnd } from "#test/support/at-end.ts";
import { BROWSER, followLink, launchBrowser, type Visit, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { storeUnpriced } from "#test/support/unpriced-records.ts";
import { until } from "#test/support/until.ts";
import { expectFit, openByName } from "./fit.ts";

/** Each page of the administration. */
const PAGES = [
  "Providers",
  "Routes",
  "Keys",
  "Limits and budgets",
  "Alerts",
  "Guardrails",
  "Prices",
  "Vendor bills",
  "Statements",
  "Tool servers",
  "Hook policies",
  "People and teams",
  "GitHub",
  "Settings",
  "Audit log",
  "Set up",
  "My usage",
] as const;

describe.skipIf(!BROWSER)("administration in a browser", () => {
  let gateway: LocalGateway;
  let reader: Visit;
  let page: Page;

  beforeAll(async () => {
    gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
    reader = await visit(await launchBrowser(), { origin: gateway.url });
    page = reader.page;
    await followLink(reader, await linkFor(gateway, null));
  });

  /** Loads the page, so that no message of before stays on it, and waits for none of its answers. */
  const load = async (path: string, name: string) => {
    await page.goto(path);
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  };
  const open = async (path: string, name: string) => {
    await reader.reopen(path);
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  };
  const dialog = () => page.getByRole("dialog");

  test.each(PAGES)("%s fits each reader", async (name) => {
    await openByName(reader, name);
    const current = page.getByRole("navigation", { name: "Main" }).locator("[aria-current=page]");
    expect(await current.allTextContents()).toEqual([name]);
    await expectFit(reader, name === "Keys" || name === "Set up" ? "access" : "next");
  });

  test("a vendor's bill is imported, and its difference is shown from metered to billed", async () => {
    await open("/settings/vendor-bills", "Vendor bills");
    await page.getByRole("button", { name: "Add vendor account" }).click();
    await dialog().getByRole("textbox", { name: /^Name/ }).fill("acme");
    await dialog()
      .getByLabel(/^Vendor/)
      .selectOption("openai");
    await dialog().getByRole("button", { name: "Add vendor account" }).click();
    await dialog().waitFor({ state: "hidden" });
    await page.getByRole("link", { name: "acme" }).click();
    const day = new Date().toISOString().slice(0, 10);
    const bill = [
      "ChargePeriodStart,BilledCost,BillingCurrency,ChargeCategory,ChargeDescription",
      `${day},120,USD,Usage,Tokens`,
      `${day},19,USD,Tax,VAT`,
    ];
    await dialog()
      .locator("input[type=file]")
      .setInputFiles({ name: "bill.csv", mimeType: "text/csv", buffer: Buffer.from(bill.join("\n")) });
    await dialog().getByText("2 lines of 1 day: 139 USD.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("img", { name: "From $0.00 (Metered) to $139.00 (Billed)" }).waitFor();
    await page.getByText("taxes, credits, fees and purchases").waitFor();
    await page.getByRole("row", { name: /VAT/ }).waitFor();
    const seats = page.getByRole("region", { name: "Seats", exact: true });
    await seats.locator("input[type=file]").setInputFiles({
      name: "seats.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(
        "person,vendor,plan,monthly_usd,effective_from\nada@example.com,cursor,Pro,20,2026-01-01",
      ),
    });
    await seats.getByText("1 seat added, 0 changed.").waitFor();
    await seats.getByRole("row", { name: /ada@example.com/ }).waitFor();
    // The same file can be chosen again once it is corrected: browsers ignore a choice that changes nothing.
    expect(await seats.locator("input[type=file]").inputValue()).toBe("");
    await expectFit(reader);
  });

  test("a provider is added, refused where it is wrong, tested, changed and deleted by its name", async () => {
    await open("/settings/providers", "Providers");
    await page.getByRole("button", { name: "Add provider" }).click();
    await dialog().getByLabel("Name").fill("local");
    await dialog().getByLabel("Kind").selectOption("openai-compatible");
    await dialog().getByRole("textbox", { name: "Address" }).fill("http://nobody.invalid/v1");
    await dialog()
      .getByLabel(/^Credential/)
      .fill("a-vendors-key");
    await dialog()
      .getByRole("switch", { name: /Allow plain http/ })
      .check();
    await dialog().getByRole("button", { name: "Add provider" }).click();
    await dialog().waitFor({ state: "hidden" });
    await page.getByRole("link", { name: "local" }).click();
    await dialog().getByRole("button", { name: "Test the connection" }).click();
    await dialog().getByText("It does not work.").waitFor();
    expect(new URL(page.url()).searchParams.get("edit")).toBe("provider:local");
    const models = dialog().getByLabel("Models", { exact: true });
    await models.fill("qwen*");
    await models.press("Enter");
    await models.fill("llama*");
    await dialog().getByRole("button", { name: "Save" }).click();
    await page.getByRole("status").getByText("local was saved.").waitFor();
    await dialog().waitFor({ state: "hidden" });
    expect(await gateway.admin("GET", "/providers/local")).toMatchObject({
      models: ["qwen*", "llama*"],
      enabled: true,
      credential_count: 1,
    });
    await page.getByRole("link", { name: "local" }).click();
    await dialog().getByRole("button", { name: "Delete" }).click();
    const confirm = page.getByRole("dialog", { name: /Delete local/ });
    expect(await confirm.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
    await confirm.getByLabel(/Type local/).fill("local");
    await confirm.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("link", { name: "local" }).waitFor({ state: "detached" });
  });

  test("a key's secret is shown once, and limits that are emptied are gone", async () => {
    await open("/settings/keys?add=key", "Keys");
    await dialog().getByLabel("Name").fill("ci");
    await dialog().getByRole("combobox", { name: "Owner" }).fill("ada@example.com");
    await dialog().getByLabel("Budget, USD").fill("25.00");
    await dialog().getByRole("button", { name: "Add key" }).click();
    const secret = (await dialog().locator("[data-secret]").textContent()) ?? "";
    expect(secret).toMatch(/^tg_[0-9A-Za-z]{43}$/);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "ci", exact: true }).click();
    expect(await dialog().locator("[data-secret]").count()).toBe(0);
    await dialog().getByLabel("Budget, USD").fill("");
    await dialog().getByLabel("Budget period").selectOption("");
    await dialog().getByRole("button", { name: "Save" }).click();
    await dialog().waitFor({ state: "hidden" });
    const { data } = await gateway.admin<{ data: { name: string; limits: unknown }[] }>("GET", "/keys");
    expect(data.find(({ name }) => name === "ci")?.limits ?? {}).toEqual({});
  });

  test("of 200 keys one is found by a text, sorted by what it cost, and opened by a click on its row", async () => {
    const sql = connect(gateway.databaseUrl, { name: "seed", max: 1, statementTimeoutMs: 60_000 });
    await sql`insert into keys (id, name, owner, scopes, created_at)
      select gen_random_uuid(), 'key-' || n, 'dev-' || n || '@example.com', '{}', now() from generate_series(1, 200) n`;
    await ensurePartitions(gateway.databaseUrl, new Date());
    const [used] = await sql<{ id: string }[]>`select id from keys where name = 'key-7'`;
    // At once: what is summed up between the two would keep the first figure.
    await sql.begin(async (tx) => {
      await storeUnpriced(tx, 1, new Date().toISOString());
      await tx`update requests set key_id = ${used?.id ?? ""}, cost_usd = 1.25, unpriced = false`;
    });
    // Figures that come after the click are sorted, too.
    const clicked = Promise.withResolvers<void>();
    await page.route("**/admin/v1/spend*", (route) => clicked.promise.then(() => route.continue()), {
      times: 1,
    });
    await load("/settings/keys", "Keys");
    const rows = page.getByRole("region", { name: "Keys" }).locator("tbody tr[data-row]");
    await page.getByRole("button", { name: "This month" }).click();
    clicked.resolve();
    await rows.first().getByText("$1.25").waitFor();
    await rows.first().getByText("key-7", { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get("key.sort")).toBe("-month");
    await page.getByRole("searchbox", { name: "Find a key" }).fill("DEV-42@");
    await rows.nth(1).waitFor({ state: "detached" });
    expect(await rows.first().textContent()).toContain("key-42");
    expect(new URL(page.url()).searchParams.get("key.find")).toBe("DEV-42@");
    await rows
      .first()
      .locator("td")
      .last()
      .click({ position: { x: 4, y: 4 } });
    await page.getByRole("dialog", { name: "key-42" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await page.getByRole("searchbox", { name: "Find a key" }).inputValue()).toBe("DEV-42@");
    await sql`truncate requests`;
    await sql`delete from keys where name like 'key-%'`;
    await sql.end({ timeout: 1 });
  });

  test("a month's statement is closed and opened, and each line opens its records", async () => {
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "of a statement" });
    const call = { model: "echo", messages: [{ role: "user", content: "hello" }] };
    const sent = { method: "POST", headers: { "x-gateway-key": secret }, body: JSON.stringify(call) };
    expect((await fetch(`${gateway.url}/v1/chat/completions`, sent)).status).toBe(200);
    await open("/settings/statements", "Statements");
    await page.getByText("The month is open").waitFor();
    await page.getByRole("button", { name: "Close the month" }).click();
    await page.getByText(/As it was when the month was closed .* \(version 1\)/).waitFor();
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("button", { name: "Reopen the month" }).isVisible()).toBe(false);
    expect(await page.getByRole("table").isVisible()).toBe(true);
    await page.emulateMedia({ media: null });
    await expectFit(reader);
    await page.getByRole("button", { name: "Reopen the month" }).click();
    await page.getByText("The month is open").waitFor();
    const line = page.getByRole("table").getByRole("link").first();
    const name = await line.textContent();
    await line.click();
    await page.waitForURL(/\/requests\?direct_team=/);
    expect(name).toBe("(none)");
  });

  test("a bucket for the daily export is entered, changed without its secret, and deleted", async () => {
    await open("/settings/statements", "Statements");
    const enter = (label: string, text: string) => page.getByLabel(new RegExp(`^${label}`)).fill(text);
    await enter("Address", "http://127.0.0.1:9");
    await page.getByRole("switch", { name: /Allow plain http/ }).check();
    await enter("Bucket", "costs");
    await enter("Access key id", "AKID");
    await page.getByRole("button", { name: "Save the bucket" }).click();
    await page.getByText("A new bucket needs it").first().waitFor();
    await enter("Secret access key", "a secret");
    await page.getByRole("button", { name: "Save the bucket" }).click();
    await page.getByText(/^Days before .* are uploaded/).waitFor();
    await enter("Prefix", "focus/");
    await page.getByRole("button", { name: "Save the bucket" }).click();
    await page.getByText("The bucket was saved.").last().waitFor();
    await page.reload();
    await page.getByText(/^Days before .* are uploaded/).waitFor();
    expect(await page.getByLabel(/^Prefix/).inputValue()).toBe("focus/");
    expect(await gateway.admin<object>("GET", "/export/destination")).toMatchObject({
      ...{ bucket: "costs", prefix: "focus/", region: "us-east-1", format: "parquet" },
    });
    await expectFit(reader);
    await page.getByRole("button", { name: "Delete" }).click();
    await dialog().getByRole("textbox").fill("costs");
    await dialog().getByRole("button", { name: "Delete" }).click();
    await page.getByText(/^Days before .* are uploaded/).waitFor({ state: "detached" });
  });

  test("a budget is added, shown with its use beside those of teams, and an alert about it is tested", async () => {
    await gateway.admin("PUT", "/teams/thrifty", { budget_usd: "5" });
    await open("/settings/limits", "Limits and budgets");
    await page.getByRole("button", { name: "Add budget" }).click();
    await dialog().getByRole("textbox", { name: /^Name/ }).fill("company");
    await dialog()
      .getByRole("textbox", { name: /^Amount/ })
      .fill("20000");
    await dialog()
      .getByLabel(/^Period/)
      .selectOption("quarter");
    await dialog().getByRole("button", { name: "Add budget" }).click();
    await dialog().waitFor({ state: "hidden" });
    const panel = page.getByRole("region", { name: "Budgets", exact: true });
    await panel
      .getByRole("row", { name: /company.*the organisation.*of \$20,000.* a quarter.*50 %, 80 %, 100 %/ })
      .waitFor();
    await panel.getByRole("row", { name: /thrifty.*the team/ }).waitFor();
    expect(await panel.getByRole("link", { name: "thrifty" }).count()).toBe(0);
    const to = { kind: "slack", url: "http://127.0.0.1:9/dead", allow_private_network: true };
    await gateway.admin("PUT", "/alerts/chat", { on: ["threshold"], to });
    await open("/settings/alerts", "Alerts");
    await page.getByRole("link", { name: "chat" }).click();
    await dialog().getByRole("button", { name: "Send a test message" }).click();
    await page.getByText("The receiver did not take it").first().waitFor();
    await gateway.admin("DELETE", "/alerts/chat");
    await gateway.admin("DELETE", "/budgets/company");
    await gateway.admin("DELETE", "/teams/thrifty");
  });

  test("limits that exist come before keys without, and guardrails in the order that they apply in", async () => {
    await gateway.admin("POST", "/keys", {
      name: "limited",
      limits: { requests_per_minute: 60, budget_usd: "0" },
    });
    await gateway.admin("POST", "/keys", { name: "newer" });
    await open("/settings/limits", "Limits and budgets");
    const first = page.getByRole("region", { name: "Limits of keys" }).locator("tbody tr").first();
    await first.getByText("limited", { exact: true }).waitFor();
    // Nothing may be spent: that is a limit.
    await first.getByText("$0.00 a month", { exact: true }).waitFor();
    await gateway.admin("PUT", "/guardrails/a-later", {
      position: 20,
      enabled: false,
      match: { models: ["*"] },
    });
    await gateway.admin("PUT", "/guardrails/z-first", {
      position: 10,
      enabled: false,
      match: { models: ["*"] },
    });
    await open("/settings/guardrails", "Guardrails");
    const names = page.getByRole("region", { name: "Guardrails" }).locator("tbody .row-link");
    await names.first().waitFor();
    const shown = await names.allTextContents();
    expect(shown.indexOf("z-first")).toBeLessThan(shown.indexOf("a-later"));
  });

  test("a wrong entry is found before it is sent, and a refused one is shown at its field", async () => {
    await gateway.admin("PUT", "/providers/acme", { kind: "openai" });
    await gateway.admin("PUT", "/routes/docs", { surface: "chat", provider: "acme", model: "gpt-5.2" });
    const before = await gateway.admin<Record<string, unknown>>("GET", "/routes/docs");
    const sent: (string | null)[] = [];
    page.on("request", (request) => request.method() === "PATCH" && sent.push(request.postData()));
    await open("/settings/routes?edit=route:docs", "Routes");
    const fallbacks = dialog().getByRole("group", { name: "Fallbacks" });
    await fallbacks.getByRole("button", { name: "Add fallback" }).click();
    await fallbacks.getByLabel("Provider").fill("nobody");
    await fallbacks.getByLabel("Model").fill("gpt-5.2");
    await fallbacks.getByLabel("Weight").fill("0");
    await dialog().getByRole("button", { name: "Save" }).click();
    await fallbacks.getByText("Enter 1 or more.").waitFor();
    expect(sent).toEqual([]);
    await fallbacks.getByLabel("Weight").fill("");
    await dialog().getByRole("button", { name: "Save" }).click();
    await fallbacks.getByText("No provider is named nobody").waitFor();
    await fallbacks.getByLabel("Provider").fill("acme");
    await dialog().getByRole("button", { name: "Save" }).click();
    await dialog().waitFor({ state: "hidden" });
    const [target] = [{ provider: "acme", model: "gpt-5.2" }];
    expect(sent.at(-1)).toBe(JSON.stringify({ fallbacks: [target] }));
    const after = await gateway.admin<Record<string, unknown>>("GET", "/routes/docs");
    expect(after).toEqual({ ...before, fallbacks: [target], updated_at: after["updated_at"] });
  });

  test("a route named like a vendor's model is created, read, called by each SDK, opened, changed and deleted", async () => {
    const name = "openai/gpt-5.4";
    const address = `/routes/${encodeURIComponent(name)}`;
    await gateway.admin("PUT", address, { surface: "chat", provider: "echo", model: "echo" });
    expect(await gateway.admin("GET", address)).toMatchObject({ name, model: "echo" });
    await gateway.admin("PATCH", "/settings", { default_route: name });
    await gateway.admin("PATCH", "/settings", { default_route: "echo" });
    const scopes = { routes: [name] };
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "aliased", scopes });
    const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret });
    const google = new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl: gateway.url } });
    const question = { model: name, messages: [{ role: "user" as const, content: "Hi" }] };
    await openai.chat.completions.create(question);
    await openai.chat.completions.create(
      { ...question, model: "echo" },
      { headers: { "x-task-type": name } },
    );
    await google.models.generateContent({ model: name, contents: "Hi" });
    expect((await openai.models.retrieve(name)).id).toBe(name);
    const hinted = { headers: { authorization: `Bearer ${secret}` } };
    expect(await (await fetch(`${gateway.url}/v1/models/${name}`, hinted)).json()).toMatchObject({
      id: name,
    });
    expect((await google.models.get({ model: name })).name).toBe(`models/${name}`);
    await open(`/settings/routes?edit=${encodeURIComponent(`route:${name}`)}`, "Routes");
    await dialog().getByLabel("Model").first().fill("other");
    await dialog().getByRole("button", { name: "Save" }).click();
    await dialog().waitFor({ state: "hidden" });
    expect(await gateway.admin("GET", address)).toMatchObject({ name, model: "other" });
    await page.goto(`/requests?route=${encodeURIComponent(name)}`);
    await page.locator("tbody tr").nth(2).waitFor();
    expect(await page.locator("tbody tr").count()).toBe(3);
    await gateway.admin("DELETE", address);
    const { data } = await gateway.admin<{ data: { name: string }[] }>("GET", "/routes");
    expect(data.map((route) => route.name)).not.toContain(name);
  });

  test("a refused form shows every fault in its own words, also at the button, and focuses the first", async () => {
    await gateway.admin("PUT", "/teams/platform", {});
    await open("/settings/keys?add=key", "Keys");
    await dialog().getByLabel("Requests per minute").fill("none");
    await dialog().getByLabel("Budget, USD").fill("much");
    await dialog().getByRole("button", { name: "Add key" }).click();
    const said = dialog().getByRole("alert");
    await said.getByText("Name: This is required.").waitFor();
    await said.getByText("Requests per minute: Enter a whole number.").waitFor();
    await said.getByText("Budget, USD: Enter an amount of 0 or more, such as 12.50.").waitFor();
    await until(() =>
      page.evaluate<boolean>("document.activeElement.labels?.[0].textContent.includes('Name')"),
    );
    // What is wrong is readable on dark, too.
    await expectFit(reader, "access");
    await dialog().getByRole("combobox", { name: "Team" }).fill("plat");
    await page.getByRole("option", { name: "platform" }).click();
    await open("/settings/providers?add=provider", "Providers");
    await dialog().getByLabel("Name").fill("Not A Name");
    await dialog().getByLabel("Kind").selectOption("ollama");
    await dialog().getByRole("textbox", { name: "Address" }).fill("http://127.0.0.1:11434");
    await dialog().getByRole("button", { name: "Add provider" }).click();
    await said.getByText("Name: Enter 1 to 64 of a-z, 0-9, _ and -").waitFor();
    await dialog().getByLabel("Name").fill("a-name");
    await dialog().getByRole("button", { name: "Add provider" }).click();
    await said.getByText("“Allow plain http, loopback and private addresses”").waitFor();
  });

  test("a group is there only while it is switched on, and a form fits each reader", async () => {
    await open("/settings/guardrails?add=guardrail", "Guardrails");
    await dialog().getByLabel("Name").fill("asked");
    await dialog().getByRole("switch", { name: "Ask another service" }).check();
    await dialog().getByRole("textbox", { name: "Address" }).fill("https://guard.example.com");
    await dialog().getByLabel("e-mail").check();
    await expectFit(reader);
    await dialog().getByRole("button", { name: "Add guardrail" }).click();
    await dialog().waitFor({ state: "hidden" });
    const callout = { url: "https://guard.example.com", timeout_ms: 1000, on_failure: "open" };
    const stored = { match: { detect: ["email"] }, mode: "observe", callout };
    expect(await gateway.admin("GET", "/guardrails/asked")).toMatchObject(stored);
    await page.getByRole("link", { name: "asked" }).click();
    await dialog().getByRole("switch", { name: "Ask another service" }).uncheck();
    await dialog().getByRole("button", { name: "Save" }).click();
    await dialog().waitFor({ state: "hidden" });
    expect(await gateway.admin("GET", "/guardrails/asked")).toMatchObject({ ...stored, callout: null });
  });

  test("a text is tried on guardrails and on routes", async () => {
    await gateway.admin("PUT", "/guardrails/no-secrets", {
      match: { pattern: "launch code" },
      mode: "enforce",
      action: "block",
    });
    await open("/settings/guardrails", "Guardrails");
    await page.getByRole("textbox", { name: "Text" }).fill("the launch code is 42");
    await page.getByRole("button", { name: "Try" }).click();
    await page.getByText("refuses it").waitFor();
    await open("/settings/routes", "Routes");
    await page.getByRole("textbox", { name: "Text" }).fill("Translate this into French.");
    await page.getByRole("button", { name: "Classify" }).click();
    await page.locator("[data-classified]").waitFor();
  });

  test("prices show which is in force, today and on another day", async () => {
    for (const [from, input] of [
      ["2020-01-01", "5"],
      ["2021-01-01", "4"],
      ["2999-01-01", "3"],
    ]) {
      await gateway.admin("POST", "/prices", {
        model: "own-model",
        effective_from: from,
        input,
        output: "9",
      });
    }
    await open("/settings/prices", "Prices");
    const row = (input: string) => page.locator("tbody tr").filter({ hasText: `$${input}` });
    await row("4").getByText("in force").waitFor();
    await row("5").getByText("replaced").waitFor();
    await row("3").getByText("later").waitFor();
    await page.getByLabel("In force on").fill("2020-12-31");
    await row("4").waitFor({ state: "detached" });
    expect(await row("5").textContent()).toContain("in force");
    expect(new URL(page.url()).searchParams.get("on")).toBe("2020-12-31");

    await gateway.admin("PUT", "/providers/priced", { kind: "openai" });
    await gateway.admin("PUT", "/routes/priced", { surface: "chat", provider: "priced", model: "gpt-4o" });
    const own = {
      model: "gpt-4o",
      provider: "priced",
      effective_from: "2026-11-02",
      input: "7",
      output: "8",
    };
    await gateway.admin("POST", "/prices", own);
    await open("/settings/prices?on=2026-11-01", "Prices");
    const inForce = page
      .getByRole("region", { name: "Prices in force" })
      .locator("tbody tr")
      .filter({ hasText: "gpt-4o" });
    await inForce.getByRole("link", { name: "openai/gpt-4o" }).waitFor();
    await page.getByText(/The built-in list is .* of \w+ \d+, \d{4}\./).waitFor();
    await page.getByLabel("In force on").fill("2026-11-02");
    await inForce.getByText("your own, since Nov 2, 2026").waitFor();
    expect(await inForce.textContent()).toContain("$7");
  });

  test("calls are priced later, and a job that runs is found again and cancelled", async () => {
    const sql = connect(gateway.databaseUrl, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    atEnd(() => sql.end({ timeout: 1 }));
    await ensurePartitions(gateway.databaseUrl, new Date());
    await storeUnpriced(sql, 3, new Date().toISOString());
    const price = { model: "dear-model", effective_from: "2026-01-01", input: "1000000", output: "1000000" };
    await gateway.admin("POST", "/prices", price);
    await open("/settings/prices", "Prices");
    const region = (name: string) => page.getByRole("region", { name });
    const dryRun = async (panel: string) => {
      await region(panel).getByRole("textbox", { name: "From" }).fill("2026-01-01");
      await region(panel).getByRole("textbox", { name: "To" }).fill("2999-12-31");
      await region(panel).getByRole("button", { name: "Show what would change" }).click();
    };
    await dryRun("Price calls later");
    await page.getByText(/3 of 3 calls get a price/).waitFor();
    await page.getByRole("button", { name: "Price 3 calls" }).click();
    await page.getByText("Done.", { exact: true }).waitFor();
    const [left] = await sql`select count(*)::integer as unpriced from requests where unpriced`;
    expect(left).toEqual({ unpriced: 0 });

    await gateway.admin("POST", "/prices", { ...price, effective_from: "2026-01-02", input: "2000000" });
    const past = region("Correct the past");
    await past.getByRole("textbox", { name: "Model" }).fill("dear-model");
    await dryRun("Correct the past");
    await past.getByText(/3 of 3 calls change/).waitFor();
    await past.getByRole("region", { name: "What changes" }).getByText("dear-model").waitFor();
    await past.getByRole("button", { name: "Restate 3 calls" }).click();
    await past.getByText("Done.", { exact: true }).waitFor();
    await region("Price list").getByText("Set PRICES_URL").waitFor();
    const month = new Date().toISOString().slice(0, 7);
    await gateway.admin("POST", "/periods/close", { month });
    await page.reload();
    await region("Closed months")
      .getByRole("link", { name: /^\w+ \d{4}$/ })
      .waitFor();
    await gateway.admin("POST", "/periods/reopen", { month });

    // One that waits after a failure, so it is still there.
    const id = newId();
    await sql`
      insert into reprice_jobs (id, from_at, to_at, dry_run, created_at, actor, unpriced_records, old_cost_usd,
        checked_records, next_attempt_at)
      values (${id}, '2026-01-01', '2027-01-01', false, now(), 'admin key', 400, 0, 100, now() + interval '1 day')`;
    await page.reload();
    const bar = page.getByRole("progressbar", { name: "Progress of pricing" });
    await bar.waitFor();
    expect(await bar.getAttribute("aria-valuenow")).toBe("25");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText(/^Cancelled/).waitFor();
    expect(await gateway.admin("GET", `/prices/reprice/${id}`)).toMatchObject({ state: "cancelled" });
  });

  test("settings are saved, a wrong one is refused at its field, and the audit log says who changed what", async () => {
    await open("/settings", "Settings");
    const days = page.getByLabel("Keep single records for, days");
    await days.fill("0");
    await page
      .getByRole("region", { name: "Calls and records" })
      .getByRole("button", { name: "Save" })
      .click();
    await page.getByText("Enter 1 or more.").first().waitFor();
    await days.fill("200");
    await page
      .getByRole("region", { name: "Calls and records" })
      .getByRole("button", { name: "Save" })
      .click();
    await page.getByText(/Saved/).waitFor();
    expect(await gateway.admin("GET", "/settings")).toMatchObject({ retention_days: 200 });
    await open("/settings/audit?action=settings.changed", "Audit log");
    await page.getByText("Keep single records for, days: 400 → 200").first().waitFor();
    await page.getByText("admin@localhost").first().waitFor();
    await page.getByRole("combobox", { name: "What" }).click();
    await page.getByRole("option", { name: "Provider set", exact: true }).click();
    await page.waitForURL(/action=provider.set/);
    await page.locator("tbody").getByText("Provider set").first().waitFor();
    // A long entry leaves room for the others.
    const more = page.locator("tbody details").first();
    await more.getByText(/^\d+ more changes?$/).click();
    await more.locator("li").first().waitFor();
    // Members and values have the words of the forms, and ids the names of what they are of.
    await open("/settings/audit?action=sign_in", "Audit log");
    await page.locator("tbody").getByText("Way: one-time link").first().waitFor();
    await gateway.admin("POST", "/prices", { model: "worded", input: "4.5", effective_from: "2026-03-01" });
    await open("/settings/audit?action=price.created", "Audit log");
    const price = page.locator("tbody tr", { hasText: "worded" });
    await price.getByText("In force from: Mar 1, 2026").waitFor();
    expect(await price.textContent()).not.toMatch(/effective|[0-9a-f]{8}-/);
    // A name is not a code: it stays as it is.
    const frame = { filters: {}, range: "30d", compare: "none", view: "table" };
    const spec = { source: "requests", dimensions: ["team"], measures: ["cost_usd"], ...frame };
    const report = { title: "cost_by_team", spec };
    await gateway.admin("POST", "/reports", { id: "named", ...report });
    await gateway.admin("PATCH", "/reports/named", { title: "cost_by_owner" });
    await open("/settings/audit?action=report.saved", "Audit log");
    await page.getByText("Title: cost_by_team → cost_by_owner").waitFor();
  });

  test("Claude Code's settings are entered value by value or as a file, for everybody and for a team", async () => {
    await load("/settings", "Settings");
    const settings = page.getByRole("region", { name: "Agents" }).getByRole("group", {
      name: "Claude Code's managed settings",
    });
    const save = page.getByRole("region", { name: "Agents" }).getByRole("button", { name: "Save" });
    await settings.getByRole("button", { name: "Add setting" }).click();
    await settings.getByRole("combobox", { name: "Setting" }).fill("permissions.den");
    await page.getByRole("option", { name: "permissions.deny" }).click();
    await settings.getByLabel("Is").selectOption("number");
    await settings.getByLabel("Value").fill("WebFetch");
    await save.click();
    await page
      .getByRole("alert")
      .getByText(/a number must be one/)
      .waitFor();
    await settings.getByLabel("Is").selectOption("list");
    await save.click();
    await page.getByText(/Saved/).waitFor();
    expect(await gateway.admin("GET", "/settings")).toMatchObject({
      claude_settings: { permissions: { deny: ["WebFetch"] } },
    });
    await gateway.admin("PUT", "/teams/platform", {});
    await open("/settings/people", "People and teams");
    await page.getByRole("link", { name: "platform" }).click();
    const chooser = page.waitForEvent("filechooser");
    await dialog().getByRole("button", { name: "Load a file" }).click();
    const content = { model: "opus", env: { "A.B": "1" }, hooks: { Stop: [{ matcher: "", hooks: [] }] } };
    await (await chooser).setFiles({
      name: "managed-settings.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(content)),
    });
    await dialog().getByRole("button", { name: "Remove setting 3" }).waitFor();
    await dialog().getByRole("button", { name: "Save" }).click();
    await dialog().waitFor({ state: "hidden" });
    expect(await gateway.admin("GET", "/teams/platform")).toMatchObject({
      claude_settings: content,
      key_template: null,
    });
  });

  test("a person's page has their keys, budgets and linked accounts, which are unlinked and moved", async () => {
    const ada = await gateway.admin<{ id: string }>("POST", "/people", {
      email: "ada@example.com",
      budget_usd: "25",
    });
    const bob = await gateway.admin<{ id: string }>("POST", "/people", { email: "bob@example.com" });
    await gateway.admin("POST", "/keys", { name: "ada's key", owner: "Ada@example.com" });
    await gateway.admin("POST", "/keys", { name: "another's key", owner: "bob@example.com" });
    const sql = connect(gateway.databaseUrl, { name: "seed", max: 1, statementTimeoutMs: 60_000 });
    for (const [way, account] of [
      ["oidc", "ada-at-issuer"],
      ["github", "4711"],
    ] as const) {
      await sql`insert into sign_in_accounts (id, person_id, provider_id, issuer, account_id, created_at, updated_at)
        values (${newId()}, ${ada.id}, ${way}, 'issuer.test', ${account}, now(), now())`;
    }
    await sql.end({ timeout: 1 });
    await open("/settings/people", "People and teams");
    await page.getByRole("link", { name: "ada@example.com" }).click();
    await dialog().getByRole("link", { name: "Linked accounts, budgets and keys" }).click();
    await page.getByRole("heading", { level: 1, name: "ada@example.com" }).waitFor();
    const region = (name: string) => page.getByRole("region", { name, exact: true }).first();
    await region("Keys").getByText("ada's key").waitFor();
    expect(await region("Keys").getByText("another's key").count()).toBe(0);
    await region("Budgets").getByText("All keys together").waitFor();
    await expectFit(reader);
    const accounts = async (id: string) => {
      const { data } = await gateway.admin<{ data: { account_id: string }[] }>(
        "GET",
        `/people/${id}/accounts`,
      );
      return data.map(({ account_id: account }) => account);
    };
    await page.getByRole("row", { name: /4711/ }).getByRole("button", { name: "Unlink" }).click();
    await dialog().getByRole("textbox").fill("4711");
    await dialog().getByRole("button", { name: "Unlink" }).click();
    await dialog().waitFor({ state: "hidden" });
    expect(await accounts(ada.id)).toEqual(["ada-at-issuer"]);
    await page
      .getByRole("row", { name: /ada-at-issuer/ })
      .getByRole("button", { name: "Move" })
      .click();
    await dialog().getByLabel("E-mail of the other person").fill("bob@example.com");
    await dialog().getByRole("button", { name: "Move" }).click();
    await region("Linked accounts").getByText("No linked account").waitFor();
    expect(await accounts(bob.id)).toEqual(["ada-at-issuer"]);
  });

  test("one's own key is made, and a call with the copied snippet's key is seen at once", async () => {
    await open("/me", "My usage");
    await page.getByRole("button", { name: "Make a key" }).click();
    await dialog().getByLabel("Name").fill("laptop");
    await dialog().getByRole("button", { name: "Make the key" }).click();
    const secret = (await dialog().locator("[data-secret]").textContent()) ?? "";
    await page.keyboard.press("Escape");
    await page.getByText("curl", { exact: true }).click();
    // The new key is in it already.
    await page
      .locator("[data-snippet]")
      .filter({ hasText: `Bearer ${secret}` })
      .waitFor();
    await page.getByText("Waiting for your next call").waitFor();
    const answer = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": secret, "content-type": "application/json" },
      body: JSON.stringify({ model: "echo", max_tokens: 64, messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(answer.status).toBe(200);
    await page.getByText("Your call was received").waitFor();
    await open("/set-up", "Set up");
    await page.getByRole("listitem").filter({ hasText: "Make the first call" }).getByText("Done").waitFor();
  });
});
