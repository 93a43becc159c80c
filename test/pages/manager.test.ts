import { beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { connect } from "#drizzle/database.ts";
import type { PullRequestView, RequestView } from "#shared/admin/records.ts";
import { linkFor } from "#test/identity/browser.ts";
import {
  BROWSER,
  faultsOfAccess,
  followLink,
  launchBrowser,
  type Visit,
  visit,
} from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { HOSTILE, seedWorld } from "./seeded-world.ts";

describe.skipIf(!BROWSER)("the manager's pages", () => {
  let gateway: GatewayProcess;
  let browser: Browser;
  let wide: Visit;
  let phone: Visit;

  beforeAll(async () => {
    gateway = await startGateway({ dataDir: `${scratch().path}/gateway` });
    const sql = connect(gateway.databaseUrl, { name: "seed", max: 1, statementTimeoutMs: 120_000 });
    await seedWorld(sql);
    await sql.end({ timeout: 1 });
    browser = await launchBrowser();
    wide = await visit(browser, { origin: gateway.url });
    await followLink(wide, await linkFor(gateway, null));
    phone = await visit(browser, { origin: gateway.url, width: 390, dark: true });
    await phone.context.addCookies(await wide.context.cookies());
  });

  const opened = async ({ page }: Visit, path: string): Promise<Page> => {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    return page;
  };

  const hostileRecord = async (): Promise<string> => {
    const session = encodeURIComponent(HOSTILE.session);
    const { data } = await gateway.admin<{ data: RequestView[] }>("GET", `/requests?session=${session}`);
    return data[0]?.id ?? "";
  };

  test.each([
    ["/overview", "Overview"],
    ["/reports", "Reports"],
    ["/reports/spend-by-model?compare=previous_period", "Reports"],
    ["/explore?by=day&by=model&measure=cost_usd", "Explore"],
    ["/pull-requests", "Pull requests"],
    ["/requests", "Requests"],
    ["/tool-calls", "Tool calls"],
  ])("%s has its title and no serious fault of access, wide and on a phone", async (path, title) => {
    for (const reader of [wide, phone]) {
      const page = await opened(reader, path);
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(title);
      expect(await faultsOfAccess(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
      expect(reader.faults).toEqual([]);
    }
  });

  test("a pull request's page shows its session's cost with every digit", async () => {
    const { data } = await gateway.admin<{ data: PullRequestView[] }>(
      "GET",
      "/pull-requests?link=joined&limit=1",
    );
    const page = await opened(wide, `/pull-requests/${data[0]?.repository}/${data[0]?.number}`);
    const cost = page.getByRole("region", { name: "Cost", exact: true }).locator("[data-exact]");
    expect(await cost.getAttribute("data-exact")).toBe(`$${data[0]?.session_cost_usd}`);
    expect(await faultsOfAccess(page)).toEqual([]);
  });

  test("hostile names are inert text, and stay within the page", async () => {
    const id = await hostileRecord();
    for (const reader of [wide, phone]) {
      const page = await opened(reader, `/requests/${id}`);
      expect(await page.title()).toBe("Requests · Tallygate");
      expect(await page.locator("main img").count()).toBe(0);
      expect(await page.locator("main").textContent()).not.toContain(HOSTILE.client);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
      expect(await faultsOfAccess(page)).toEqual([]);
      expect(reader.faults).toEqual([]);
    }
  });
});
