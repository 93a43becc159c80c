import { beforeAll, describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { linkFor } from "#test/identity/browser.ts";
import { seed } from "#test/reports/world.ts";
import { BROWSER, followLink, launchBrowser, type Visit, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { localGateway } from "#test/support/local-gateway.ts";
import { testSql } from "#test/support/postgres.ts";

/** Between two looks at the version: usually, and at most. */
const PAUSE_MS = 3000;
const PAUSE_MS_MAX = 60_000;
const SESSION = "task-1";

describe.skipIf(!BROWSER)("a page that is open", () => {
  let reader: Visit;
  let sql: postgres.Sql;
  const asked: string[] = [];

  beforeAll(async () => {
    const gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
    sql = testSql(gateway.databaseUrl);
    const at = new Date().toISOString();
    await seed(sql, "default", {
      requests: [{ at, session: SESSION, cost: "0.18" }],
      repositories: [{ id: 1, fullName: "acme/shop" }],
    });
    reader = await visit(await launchBrowser(), { origin: gateway.url });
    await reader.page.clock.install();
    reader.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await followLink(reader, await linkFor(gateway, null));
    await reader.settled();
  });

  const figure = (name: string) => reader.page.locator(".tile").filter({ hasText: name }).locator("strong");
  const reports = () => asked.filter((path) => path.startsWith("/v1/reports")).length;
  const versions = () => asked.filter((path) => path === "/v1/version").length;
  /** Time goes by on the page until it has asked for the version, and for what it then asks. */
  const pass = async (ms: number) => {
    const answer = reader.page.waitForResponse((it) => it.url().endsWith("/v1/version"));
    await reader.page.clock.runFor(ms);
    await answer;
    await reader.settled();
  };
  const merge = (number: number) =>
    seed(sql, "default", {
      pullRequests: [
        { repository: 1, number, mergedAt: new Date().toISOString(), link: "joined", session: SESSION },
      ],
    });

  test("asks for the version of the records, and for no report while it stays", async () => {
    await figure("Spend").getByText("$0.18").waitFor();
    const before = reports();
    for (let turns = 0; turns < 2; turns++) await pass(PAUSE_MS_MAX);
    expect(reports()).toBe(before);
  });

  test("shows a merge that is joined meanwhile, and its figures never leave for a skeleton", async () => {
    await reader.page.evaluate(`new MutationObserver(() => {
      if (document.querySelector("main .tile") === null) window.hasJumped = true;
    }).observe(document.querySelector("main"), { childList: true, subtree: true })`);
    await merge(1);
    await pass(PAUSE_MS_MAX);
    await figure("Cost per merged pull request").getByText("$0.18").waitFor();
    expect(await reader.page.evaluate("window.hasJumped === true")).toBe(false);
  });

  test("and a page that was left before the change is asked for again when one comes back, however soon", async () => {
    const { page } = reader;
    const go = (name: string) =>
      page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
    await go("Reports");
    await merge(2);
    await go("Overview");
    await figure("Merged pull requests").getByText("2").waitFor();
  });

  test("asks for nothing while it is hidden, and at once when it is shown again", async () => {
    const { page } = reader;
    const show = (state: string) =>
      page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
        document.dispatchEvent(new Event("visibilitychange"))`);
    await show("hidden");
    const before = versions();
    await merge(3);
    await page.clock.runFor(PAUSE_MS_MAX);
    await reader.settled();
    expect(versions()).toBe(before);
    await show("visible");
    await figure("Merged pull requests").getByText("3").waitFor();
  });

  test("keeps what it shows while the version cannot be had, and follows again after", async () => {
    const { page } = reader;
    await page.route("**/v1/version", (route) =>
      route.fulfill({ status: 503, json: { error: { type: "api_error", message: "away" } } }),
    );
    for (let failures = 1; failures <= 3; failures++) await pass(PAUSE_MS_MAX);
    const before = versions();
    await page.clock.runFor(PAUSE_MS);
    await reader.settled();
    expect(versions()).toBe(before);
    expect(await figure("Merged pull requests").textContent()).toBe("3");
    await page.unroute("**/v1/version");
    await merge(4);
    await pass(PAUSE_MS_MAX);
    await figure("Merged pull requests").getByText("4").waitFor();
  });
});
