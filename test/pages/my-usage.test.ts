import { beforeAll, describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { linkFor } from "#test/identity/browser.ts";
import { seed } from "#test/reports/world.ts";
import { BROWSER, followLink, launchBrowser, type Visit, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testSql } from "#test/support/postgres.ts";
import { expectFit, openByName } from "./fit.ts";

const ADA = "ada@example.com";

describe.skipIf(!BROWSER)("My usage", () => {
  let gateway: LocalGateway;
  let id: string;
  let ada: Visit;
  let sql: postgres.Sql;

  const call = (session: string, cost: string) =>
    seed(sql, "default", {
      requests: [{ at: new Date().toISOString(), owner: ADA, session, cost, route: "echo" }],
    });

  beforeAll(async () => {
    gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
    sql = testSql(gateway.databaseUrl);
    const made = await gateway.admin<{ id: string }>("POST", "/people", {
      email: ADA,
      role: "member",
      budget_usd: "10",
      budget_period: "month",
    });
    id = made.id;
    await call("task-1", "0.18");
    await seed(sql, "default", {
      repositories: [{ id: 1, fullName: "acme/shop" }],
      pullRequests: [
        {
          ...{ repository: 1, number: 7, mergedAt: new Date().toISOString(), author: "ada-dev" },
          ...{ link: "joined", session: "task-1" },
        },
        { repository: 1, number: 8, mergedAt: new Date().toISOString(), author: "bob-dev", link: "no_stamp" },
      ],
    });
    // All of it is there before the page first asks.
    ada = await visit(await launchBrowser(), { origin: gateway.url });
    await followLink(ada, await linkFor(gateway, ADA));
    await openByName(ada, "My usage");
  });

  const region = (name: string) => ada.page.getByRole("region", { name, exact: true });

  test("shows spend by day, the budget with its bar and when it renews, sessions and pull requests with cost", async () => {
    const month = region("This month");
    await month.locator("dd").getByText("$0.1800").waitFor();
    expect(await month.textContent()).toMatch(/it renews on \w+ 1 \(UTC\).*\$0\.1800 of \$10\.00/);
    expect(await month.locator(".track.budget").count()).toBe(1);
    await region("Spend by day").getByRole("img").waitFor();
    const session = region("My sessions").locator("tbody tr").first();
    expect(await session.textContent()).toContain("task-1");
    expect(await session.textContent()).toContain("$0.1800");
    expect(await region("My pull requests").textContent()).toContain("shop #7");
    expect(await region("My pull requests").textContent()).toContain("$0.1800");
    await expectFit(ada);
  });

  test("its figures change together when a call ends", async () => {
    await call("task-2", "0.32");
    await region("This month").locator("dd").getByText("$0.5000").waitFor();
    expect(await region("My sessions").textContent()).toContain("task-2");
  });

  test("a call that ends meanwhile is in all of its figures, or in none: they are of one answer", async () => {
    const { page } = ada;
    const read = Promise.withResolvers<void>();
    let answers = 0;
    await page.route("**/v1/me/overview**", async (route) => {
      const isFirst = answers++ === 0;
      // The page soon asks again.
      if (!isFirst) await read.promise;
      const response = await route.fetch();
      if (isFirst) await call("task-3", "0.10");
      await route.fulfill({ response });
    });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.reload();
    const spent = region("This month").locator("[data-exact]").first();
    await spent.waitFor();
    expect(await spent.getAttribute("data-exact")).toBe("$0.5");
    expect(await region("My sessions").textContent()).not.toContain("task-3");
    expect(new Set(asked.filter((path) => path.startsWith("/v1/me/")))).toEqual(
      new Set(["/v1/me/overview", "/v1/me/seats"]),
    );
    read.resolve();
    await region("My sessions").getByText("task-3").waitFor();
    expect(await spent.getAttribute("data-exact")).toBe("$0.6");
    await page.unroute("**/v1/me/overview**");
  });

  test("one's own budgets and the team's are there, over-spent with a mark of its own, and no others", async () => {
    const budget = (name: string, on: object, amount: string) =>
      gateway.admin("PUT", `/budgets/${name}`, { on, amount_usd: amount, period: "day", mode: "soft" });
    await gateway.admin("PUT", "/teams/search", {});
    await gateway.admin("PATCH", `/people/${id}`, { team: "search" });
    await budget("own", { kind: "person", id: ADA }, "0.4");
    await budget("searchers", { kind: "team", id: "search" }, "5");
    // What others spend is not a member's: a call may name any tag.
    await budget("company", { kind: "organisation" }, "0.4");
    await budget("echoes", { kind: "route", id: "echo" }, "5");
    await budget("others", { kind: "person", id: "bob@example.com" }, "5");
    await ada.page.reload();
    const month = region("This month");
    await month.getByText("used up").waitFor();
    const names = await month.locator(".bar-row bdi").allTextContents();
    expect(names.toSorted()).toEqual([ADA, "own", "searchers"]);
    expect(await month.locator(".track.budget .over").count()).toBe(1);
    expect(await month.locator(".track.budget .mark").count()).toBe(3);
    await expectFit(ada);
  });

  test("its range is any that other pages have, and an administrator's pull requests are there, too", async () => {
    const { page } = ada;
    await page.getByRole("button", { name: "Range: This month" }).click();
    await page.getByRole("menuitem", { name: "Today" }).click();
    await page.waitForURL(/from=/);
    await region("My sessions").getByText("task-2").waitFor();
    await page.goto("/me?from=2020-01-01&to=2020-01-31");
    await page.getByText("No calls in this range").waitFor();
    await page.goto("/me");
    await ada.settled();
    const eva = { email: "eva@example.com", role: "administrator", github_login: "ada-dev" };
    await gateway.admin("POST", "/people", eva);
    const hers = await visit(await launchBrowser(), { origin: gateway.url });
    await followLink(hers, await linkFor(gateway, eva.email));
    await hers.page.goto("/me");
    const merges = hers.page.getByRole("region", { name: "My pull requests", exact: true });
    await merges.getByText("shop #7").waitFor();
    expect(await merges.textContent()).not.toContain("shop #8");
    await hers.context.close();
  });

  test("a session leads to its page", async () => {
    await region("My sessions").getByRole("link", { name: "task-1" }).click();
    await ada.page.getByRole("heading", { level: 1, name: "Session task-1" }).waitFor();
    await ada.settled();
    await expectFit(ada);
  });
});
