import { beforeAll, describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { linkFor } from "#test/identity/browser.ts";
import { seed } from "#test/reports/world.ts";
import { BROWSER, followLink, launchBrowser, type Visit, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testSql } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { expectFit } from "./fit.ts";

describe.skipIf(!BROWSER)("what the pages say about money", () => {
  let gateway: LocalGateway;
  let reader: Visit;
  let sql: postgres.Sql;
  const at = new Date().toISOString();

  beforeAll(async () => {
    gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
    sql = testSql(gateway.databaseUrl);
    reader = await visit(await launchBrowser(), { origin: gateway.url });
    await followLink(reader, await linkFor(gateway, null));
    await seed(sql, "default", {
      requests: [{ at, owner: "ada@example.com", cost: "0.18", tokenCost: "0.18" }],
    });
  });

  const open = async (path: string): Promise<Visit["page"]> => {
    await reader.page.goto(path);
    await reader.settled();
    return reader.page;
  };
  const causes = () => reader.page.getByRole("region", { name: "What moved the cost" });

  test("the first call is explained by there being nothing before", async () => {
    const page = await open("/overview");
    expect(await causes().textContent()).toContain("Nothing was spent before (");
    expect(await causes().getByRole("img").count()).toBe(0);
    // This month is compared with as much of the last one, which is no month.
    const compare = await page.getByRole("button", { name: /^vs\. / }).textContent();
    expect(compare).toMatch(/^vs\. \w+ 1 – .+ UTC$/);
    expect(await causes().textContent()).toContain(compare?.slice("vs. ".length) ?? "");
  });

  test("a total is shown without groups, too; only where there are no records is nothing shown", async () => {
    const page = await open("/explore?by=none&measure=cost_usd&view=table");
    await page.getByRole("region", { name: "Figures" }).getByText("$0.18").waitFor();
    expect(await page.getByText("Nothing in this period").count()).toBe(0);
    await open("/explore?by=none&measure=cost_usd&view=table&from=2020-01-01&to=2020-01-02");
    await page.getByText("Nothing in this period").waitFor();
  });

  test("a report as it was known on a day has no later call, and cannot be saved as one of now", async () => {
    const page = await open("/explore?by=none&measure=cost_usd&view=table");
    await page.getByLabel("As known on").fill(at.slice(0, 10));
    await page.getByText("Nothing in this period").waitFor();
    await page.waitForURL(/as_of=/);
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
    await expectFit(reader);
    await page.getByLabel("As known on").fill("");
    await page.getByRole("region", { name: "Figures" }).getByText("$0.18").waitFor();
    await page.getByRole("button", { name: "Save" }).waitFor();
  });

  test("on a phone a report's further groups are below the first one with their names, beside the figure", async () => {
    const page = await open("/explore?by=day&by=client&measure=cost_usd&view=table");
    await page.setViewportSize({ width: 390, height: 844 });
    const figures = page.getByRole("region", { name: "Figures" });
    const heads = figures.locator("th");
    await until(async () => (await heads.allTextContents()).join("|") === "Day|Cost");
    await figures.locator("td .below").getByText("Client").first().waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await until(async () => (await heads.allTextContents()).join("|") === "Day|Client|Cost");
  });

  test("figures of another filter never stand unmarked", async () => {
    const page = await open("/overview");
    const answers = Promise.withResolvers<void>();
    await page.route("**/v1/reports**", async (route) => {
      await answers.promise;
      await route.continue();
    });
    await page
      .getByRole("region", { name: "People" })
      .getByRole("button", { name: "ada@example.com" })
      .click();
    await page.getByRole("list", { name: "Filters" }).waitFor();
    const old = page.locator("[aria-busy=true]").filter({ has: page.locator(".tile") });
    await old.waitFor();
    // It fades. (The page's policy forbids what Playwright's own wait evaluates again and again.)
    await until(() =>
      page.evaluate<boolean>('getComputedStyle(document.querySelector("[aria-busy=true]")).opacity < 1'),
    );
    expect(await page.locator(".tile").count()).toBe(await old.locator(".tile").count());
    answers.resolve();
    await page.locator("[aria-busy=false] .tile").first().waitFor();
    await page.unroute("**/v1/reports**");
    await until(async () => (await page.locator("[aria-busy=true]").count()) === 0);
  });

  test("the Overview is one question, which is asked once its link is pointed at", async () => {
    const page = await open("/set-up");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const reports = () => asked.filter((path) => path.startsWith("/v1/reports"));
    const link = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Overview" });
    const answer = page.waitForResponse("**/v1/reports/overview");
    await link.hover();
    await answer;
    await link.click();
    await page.locator(".tile").first().waitFor();
    // It is drawn once its place has a size.
    await page.getByRole("region", { name: "Spend by day" }).getByRole("img").waitFor();
    expect(reports()).toEqual(["/v1/reports/overview"]);
  });

  test("a manager of a team is told so on each page, and nobody else is", async () => {
    await gateway.admin("POST", "/teams", { name: "payments" });
    await gateway.admin("POST", "/people", { email: "mia@example.com", role: "manager", team: "payments" });
    const mia = await visit(await launchBrowser(), { origin: gateway.url });
    await followLink(mia, await linkFor(gateway, "mia@example.com"));
    const paths = [
      "/overview",
      "/reports/spend-by-model",
      "/explore",
      "/requests",
      "/pull-requests",
      "/tool-calls",
    ];
    for (const path of paths) {
      await mia.follow(path);
      await mia.page.getByRole("note").getByText("You see the team payments").waitFor();
      await reader.follow(path);
      expect(await reader.page.getByText(/You see the team/).count()).toBe(0);
    }
    await expectFit(mia);
    await mia.context.close();
  });

  test("ranges of today, 90 days and the quarter are chosen by name, and are days in the address", async () => {
    const page = await open("/explore?by=none&measure=cost_usd&view=table");
    for (const name of ["Today", "Last 90 days", "This quarter"]) {
      await page.getByRole("button", { name: /^Range: / }).click();
      await page.getByRole("menuitem", { name }).click();
      await page.waitForURL(/from=\d{4}-\d\d-\d\d/);
      await reader.settled();
      await page.getByRole("region", { name: "Figures" }).getByText("$0.18").first().waitFor();
    }
  });

  test("days are those of the time zone that the settings name", async () => {
    // Behind that line a day is never the one of UTC all day long; at any time one of the two differs.
    for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
      await gateway.admin("PATCH", "/settings", { report_time_zone: zone });
      const page = await open("/explore?by=day&measure=requests&view=table&range=7d");
      const today = new Intl.DateTimeFormat("en-US", { timeZone: zone, day: "numeric", month: "short" });
      const figures = page.getByRole("region", { name: "Figures" });
      await figures.getByRole("button", { name: today.format(new Date()) }).waitFor();
      await page.getByRole("link", { name: "Records" }).click();
      await page.getByRole("region", { name: "Records" }).locator("tbody tr").first().waitFor();
    }
    await gateway.admin("PATCH", "/settings", { report_time_zone: "UTC" });
    const wrong = gateway.admin("PATCH", "/settings", { report_time_zone: "Berlin" });
    expect(await wrong.catch((error: Error) => error.message)).toContain("IANA time zone");
  });

  test("budgets that are exceeded by different amounts look different", async () => {
    for (const [name, budget] of [
      ["design", "0.144"],
      ["growth", "0.139"],
    ] as const) {
      await gateway.admin("POST", "/teams", { name, budget_usd: budget, budget_period: "month" });
    }
    const at = new Date().toISOString();
    const requests = ["design", "growth"].map((team) => ({ at, teams: [team], cost: "0.18" }));
    await seed(sql, "default", { requests });
    const page = await open("/overview");
    const over = page.getByRole("region", { name: "Budgets at risk" }).locator(".fill.over");
    await over.nth(1).waitFor();
    const boxes = await Promise.all([over.first(), over.last()].map((it) => it.boundingBox()));
    expect(new Set(boxes.map((box) => box?.width)).size).toBe(2);
    await expectFit(reader);
  });
});
