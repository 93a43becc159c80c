import { beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { BROWSER, launchBrowser, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { expectFit } from "./fit.ts";

describe.skipIf(!BROWSER)("the console in a browser", () => {
  let gateway: LocalGateway;
  let browser: Browser;
  beforeAll(async () => {
    gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
    browser = await launchBrowser();
  });

  test("without a session every page leads to the sign-in, and nothing leaves the origin or breaks the policy", async () => {
    const { page, faults } = await visit(browser, { origin: gateway.url });
    await page.goto("/overview?model=gpt-5.2");
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/sign-in");
    expect(new URL(page.url()).searchParams.get("next")).toBe("/overview?model=gpt-5.2");
    expect(await page.locator("h1").evaluate((it) => getComputedStyle(it).fontFamily)).toContain("Inter");
    expect(faults).toEqual([]);
  });

  test("the sign-in fits each reader", async () => {
    const reader = await visit(browser, { origin: gateway.url });
    await reader.page.goto("/sign-in?token=tgf_nothing");
    await reader.page.getByRole("button", { name: "Sign in" }).waitFor();
    await expectFit(reader, "access");
  });
});
