import { beforeAll, describe, expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import type { PersonView } from "#shared/admin/people.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import type { RequestView } from "#shared/admin/records.ts";
import { formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import { linkFor } from "#test/identity/browser.ts";
import { BROWSER, downloaded, followLink, launchBrowser, type Visit, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { casesOf, longTest } from "#test/support/fault-run.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { until } from "#test/support/until.ts";
import { expectFit, openByName } from "./fit.ts";
import { seedSettings } from "./seeded-settings.ts";
import { HOSTILE, seedWorld } from "./seeded-world.ts";

/** Each page of the console, with something to show. */
async function allPages({ admin }: LocalGateway): Promise<string[]> {
  const router = await Bun.file(`${import.meta.dir}/../../gateway/pages/router.tsx`).text();
  const paths = [...router.matchAll(/\bpage\(\s*"([^"]+)"/g)].map(([, path = ""]) => path);
  const first = async <View>(list: string) => (await admin<{ data: View[] }>("GET", list)).data[0];
  const merge = await first<PullRequestView>("/pull-requests?link=joined&limit=1");
  const of: Record<string, string | undefined> = {
    "/reports/$id": "/reports/commerce-by-model",
    "/pull-requests/$owner/$repo/$n": `/pull-requests/${merge?.repository}/${merge?.number}`,
    "/requests/$id": `/requests/${(await first<RequestView>("/requests?limit=1"))?.id}`,
    "/sessions/$session": `/sessions/${merge?.session}`,
    "/settings/people/$id": `/settings/people/${(await first<PersonView>("/people?limit=1"))?.id}`,
  };
  return ["/overview", ...paths.map((path) => of[path] ?? path)];
}

/** What is wider than the window, and tables in which a row has its first amount beyond it. */
const TOO_WIDE = `[
  ...(document.documentElement.scrollWidth > innerWidth ? ["the page"] : []),
  ...[...document.querySelectorAll("tr:has([data-exact^='$'])")]
    .map((row) => row.querySelector("[data-exact^='$']"))
    .filter((it) => it.getBoundingClientRect().right > innerWidth)
    .map((it) => it.closest(".table-scroll")?.ariaLabel ?? it.textContent),
]`;

/** Addresses that cannot be asked, with what the page says: first one of each kind. */
const CANNOT_BE_ASKED = [
  ["/overview?range=99d", "range=99d: expected one of"],
  ["/requests?modle=gpt-5.2", "modle: there is no such filter."],
  ["/overview?__proto__=gpt-5.2", "__proto__: there is no such filter."],
  ["/overview?range=7d&from=2026-01-01", "range: expected without from and to."],
  ["/explore?by=nonsense", "by=nonsense: expected one of"],
  ["/explore?source=tool_calls&model=gpt-5.2", "model: there is no such filter."],
  ["/settings/statements?month=2026-99", "month=2026-99: expected a month such as 2026-10."],
  ["/settings/people?edit=nonsense", "edit=nonsense: expected person:ID."],
  ["/requests?model=gpt-5.2&model=gpt-5-mini", "model: expected at most 1."],
  ["/requests?model=", "model: expected a value."],
  ["/explore?by=day&by=team&by=model&by=client", "by: expected at most 3."],
  ["/explore?as_of=soon", "as_of=soon: expected a day such as 2026-11-03."],
  ["/explore?measure=cost", "measure=cost: expected one of"],
  ["/reports/cost-per-merged-pr?route=code", "route: there is no such filter."],
  ["/pull-requests/costs?by=nonsense", "by=nonsense: expected one of"],
  ["/me?range=99d", "range=99d: expected one of"],
  ["/requests?sort=cost", "sort: there is no such filter."],
  ["/settings/statements?by=nonsense", "by=nonsense: expected one of team, cost_center."],
  ["/settings/vendor-bills?month=soon", "month=soon: expected a month such as 2026-10."],
  ["/settings/keys?add=nonsense", "add=nonsense: expected one of key."],
  ["/settings/people?persons.find=ada", "persons.find: there is no such filter."],
] as const;

describe.skipIf(!BROWSER)("the manager's pages", () => {
  let gateway: LocalGateway;
  let reader: Visit;

  beforeAll(async () => {
    gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
    const sql = connect(gateway.databaseUrl, { name: "seed", max: 1, statementTimeoutMs: 120_000 });
    await seedWorld(sql, { people: 24, days: 40, hostile: true });
    // Whichever models the days have: one of their calls has no known cost.
    await sql`update requests set cost_usd = null, price = null, unpriced = true where id = (
      select id from requests where started_at < now() - interval '2 days' and cost_usd > 0
        and session not in (select session from pull_requests where session is not null)
      order by started_at desc limit 1)`;
    await sql.end({ timeout: 1 });
    reader = await visit(await launchBrowser(), { origin: gateway.url });
    await followLink(reader, await linkFor(gateway, null));
  });

  const open = async (path: string): Promise<Visit["page"]> => {
    await reader.follow(path);
    return reader.page;
  };

  /** Loads the page again, so that no other page's answers are known to it. */
  const load = async (path: string): Promise<Visit["page"]> => {
    await reader.page.goto(path);
    await reader.settled();
    return reader.page;
  };

  const hostileRecord = async (): Promise<string> => {
    const session = encodeURIComponent(HOSTILE.session);
    const { data } = await gateway.admin<{ data: RequestView[] }>("GET", `/requests?session=${session}`);
    return data[0]?.id ?? "";
  };

  test.each([
    ["Overview", "access"],
    ["Reports", "both"],
    ["Explore", "access"],
    ["Pull requests", "access"],
    ["Requests", "both"],
    ["Tool calls", "both"],
  ] as const)("%s fits each reader", async (name, looks) => {
    await openByName(reader, name);
    await expectFit(reader, looks);
  });

  test.each([
    ["/reports/spend-by-model?compare=previous_period", "Spend by model"],
    ["/explore?by=day&by=team&measure=cost_usd", "Explore"],
  ])("%s fits each reader", async (path, title) => {
    const page = await open(path);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(title);
    await expectFit(reader, "both");
  });

  test("a change of the cost is explained also where nothing else is asked for", async () => {
    const page = await open(
      "/explore?by=none&measure=cost_decomposition&compare=previous_period&view=waterfall",
    );
    await page.getByRole("region", { name: "What moved the cost" }).getByRole("img").waitFor();
    await page.getByRole("button", { name: "Rate, mix and volume" }).click();
    const moved = page.getByRole("region", { name: "Rate, mix and volume", exact: true }).locator("tbody tr");
    await moved.last().waitFor();
    const parts = await moved
      .locator("td:nth-child(2) span")
      .evaluateAll((all) =>
        all.map((it) => [it.getAttribute("title")?.startsWith("−"), it.textContent?.startsWith("−")]),
      );
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.every(([exact, shown]) => exact === shown)).toBe(true);
    // A change is neither new nor a lower bound.
    expect(await page.getByRole("region", { name: "Figures" }).textContent()).not.toMatch(/new|≥/);
    await expectFit(reader);
  });

  test("what a figure of the Overview opens has the same total, narrowed alike", async () => {
    const page = await open("/overview?range=7d&team=commerce");
    const exact = (of: string) => page.locator(of).first().getAttribute("data-exact");
    const spend = await exact("section[aria-label='Spend'] strong [data-exact]");
    const teams = page.getByRole("region", { name: "Teams" }).getByRole("link", { name: "All" });
    const all = await teams.getAttribute("href");
    await page.getByRole("link", { name: "Spend", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Spend by model" }).waitFor();
    await reader.settled();
    expect(await exact("tfoot .number [data-exact^='$']")).toBe(spend);
    await open(all ?? "");
    expect(await page.getByRole("list", { name: "Filters" }).textContent()).toContain("commerce");
    await open("/overview?range=7d");
    const merged = page.getByRole("region", { name: "Merged pull requests", exact: true });
    const count = await merged.locator("strong").textContent();
    await merged.getByRole("link").click();
    await page.waitForURL(/pull-requests\?state=merged&from=/);
    await reader.settled();
    expect(await page.locator("tfoot").textContent()).toStartWith(`${count} pull requests shown`);
  });

  test("a pull request's page shows its session's cost with every digit", async () => {
    const { data } = await gateway.admin<{ data: PullRequestView[] }>(
      "GET",
      "/pull-requests?link=joined&limit=1",
    );
    const page = await open(`/pull-requests/${data[0]?.repository}/${data[0]?.number}`);
    const cost = page.getByRole("region", { name: "Cost", exact: true }).locator("[data-exact]");
    expect(await cost.getAttribute("data-exact")).toBe(`$${data[0]?.session_cost_usd}`);
    await page.getByText(/^(Yes|Not yet), latest call /).waitFor();
    await expectFit(reader, "both");
  });

  test("merges without a cost are listed by author, with what to do; a click shows an author's", async () => {
    const page = await open("/pull-requests");
    const list = page.getByRole("region", { name: "Not joined to a session" }).first();
    expect(await list.textContent()).toContain("Add a Gateway-Session line to its body");
    const author = await list.locator("tbody button").first().textContent();
    await list.locator("tbody button").first().click();
    await page.waitForURL(/author=/);
    expect(new URL(page.url()).searchParams.get("author")).toBe(author);
    expect(new URL(page.url()).searchParams.get("link")).toBe("no_stamp");
  });

  test("a request leads to its session, and that to its pull request; its cost adds up to the pull request's", async () => {
    const { data } = await gateway.admin<{ data: PullRequestView[] }>(
      "GET",
      "/pull-requests?link=joined&limit=1",
    );
    const [merged] = data;
    const page = await open(`/requests?session=${merged?.session}`);
    await page.locator("tbody tr").first().getByRole("link").first().click();
    await page.getByRole("region", { name: "Session, pull request" }).getByRole("link").first().click();
    await page.waitForURL(/\/sessions\//);
    await reader.settled();
    const cost = `$${formatDecimal(parseDecimal(merged?.session_cost_usd ?? "0"))}`;
    const exact = (name: string) =>
      page
        .getByRole("region", { name, exact: true })
        .locator("[data-exact]")
        .first()
        .getAttribute("data-exact");
    expect(await exact("Cost")).toBe(cost);
    const last = page.getByRole("region", { name: "Calls, one after the other" }).locator("tbody tr").last();
    expect(await last.locator("td").nth(2).locator("[data-exact]").getAttribute("data-exact")).toBe(cost);
    await expectFit(reader, "both");
    await page.getByRole("region", { name: "Pull requests" }).getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: `${merged?.repository} #${merged?.number}` }).waitFor();
    await page.getByRole("link", { name: /…/ }).first().click();
    await page.waitForURL(/\/sessions\//);
  });

  test("the cost of merges is a median with its interval, and the dearest say why", async () => {
    const page = await open("/pull-requests/costs?range=30d");
    const trend = page.getByRole("region", { name: "Median cost of a merge by week" });
    expect(await trend.textContent()).toMatch(/with a confidence of 95 % between/);
    const dearest = page.getByRole("region", { name: "The costliest merges" }).first();
    await dearest.locator("tbody tr").nth(9).waitFor();
    expect(await dearest.locator("tbody tr").first().textContent()).toMatch(/\d\s% by \w/);
    await expectFit(reader, "both");
    await page.getByRole("button", { name: "Author", exact: true }).first().click();
    await page.waitForURL(/by=author/);
    const closed = async (query: string) => {
      await open(`/pull-requests/costs?${query}`);
      return await page.getByRole("region", { name: "Closed without a merge" }).textContent();
    };
    expect(await closed("range=30d")).toContain("$");
    expect(await closed("range=30d&repository=acme/search")).toContain("cannot be narrowed");
  });

  test("the parts of explained spend are all spend, and each shows its sessions", async () => {
    const page = await open("/pull-requests/explained?range=30d");
    const parts = page.getByRole("region", { name: "What explains spend" });
    const shown = await parts
      .locator(".number [data-exact^='$']")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-exact")?.slice(1) ?? ""));
    const total = await parts.locator(".panel-head [data-exact]").getAttribute("data-exact");
    const sum = shown.map(parseDecimal).reduce(plus, ZERO);
    expect(Number(formatDecimal(sum))).toBeCloseTo(Number(total?.slice(1)), 9);
    await expectFit(reader, "both");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await parts.getByRole("button", { name: "No pull request" }).click();
    expect(await page.getByRole("list", { name: "Filters" }).textContent()).toContain("No pull request");
    const sessions = page.getByRole("region", { name: "No pull request" }).first();
    await sessions.locator("tbody button").first().waitFor();
    // Both are of one snapshot.
    expect(asked.filter((path) => path === "/v1/reports/query")).toHaveLength(1);
    await sessions.locator("tbody button").first().click();
    await page.waitForURL(/\/sessions\//);
  });

  test("a filter suggests the values that there are, those that begin with what is typed first", async () => {
    const page = await open("/requests");
    await page.getByRole("combobox", { name: "Value of Model" }).fill("claude");
    const options = page.getByRole("listbox").getByRole("option");
    await until(async () => {
      const texts = await options.allTextContents();
      return texts.length > 0 && texts.every((text) => text.startsWith("claude"));
    });
    await options.first().click();
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/model=claude/);
    await page.getByRole("combobox", { name: "Value of Model" }).fill("claude-*");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.waitForURL(/model=claude-\*/);
    await page.locator("tbody tr").first().waitFor();
    // What is suggested can be asked, and a day is chosen from a calendar.
    await page.getByLabel("Field to filter by").selectOption("Surface");
    await page.getByRole("combobox", { name: "Value of Surface" }).click();
    await options.first().click();
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.waitForURL(/surface=/);
    await page.getByLabel("Field to filter by").selectOption("From");
    await page.getByRole("combobox", { name: "Value of From" }).fill("2026-01-31");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByRole("list", { name: "Filters" }).getByText("Jan 31, 2026").waitFor();
    await page.locator("tbody tr").first().waitFor();
  });

  test("a narrowed list of merges says once what to do, and adds up what is shown", async () => {
    const page = await open("/pull-requests?state=merged");
    const remedies = page.getByText("Add a Gateway-Session line to its body", { exact: false });
    await remedies.first().waitFor();
    expect(await remedies.count()).toBe(1);
    const total = page.getByRole("region", { name: "Pull requests" }).locator("tfoot");
    expect(await total.textContent()).toMatch(/\d+ pull requests shown.*\$[\d.,]+/);
  });

  test("going back restores the filters, the sorting and the place in the list", async () => {
    const page = await open("/pull-requests?state=merged");
    const table = page.getByRole("region", { name: "Pull requests" });
    await table.getByRole("button", { name: "Cost" }).click();
    await page.waitForURL(/sort=-cost/);
    await table.evaluate((it) => it.scrollTo(0, 1200));
    await reader.settled();
    const row = table.locator("tbody tr[data-row='28']");
    const name = await row.locator(".row-link").textContent();
    await row
      .locator("td")
      .last()
      .click({ position: { x: 3, y: 30 } });
    await page.getByRole("heading", { level: 1, name: /#\d+$/ }).waitFor();
    await page.goBack();
    await row.getByText(name ?? "").waitFor();
    expect(page.url()).toContain("state=merged");
    await until(async () => (await table.evaluate((it) => it.scrollTop)) === 1200);
  });

  test.each(casesOf(CANNOT_BE_ASKED, 8))(
    "%s cannot be asked, says so, and asks nothing else",
    async (path, fault) => {
      const asked: string[] = [];
      const note = (request: { url(): string }) => asked.push(request.url());
      reader.page.on("request", note);
      const page = await open(path);
      await page.getByRole("alert").getByText(fault).waitFor();
      reader.page.off("request", note);
      expect(asked.filter((url) => /reports\/(query|overview)|admin\/v1\/requests/.test(url))).toEqual([]);
      if (path.startsWith("/requests?modle")) await expectFit(reader);
    },
  );

  longTest(
    "pages/manager, pages/settings (each page fits a wide window and a phone, and refuses what it does not have)",
  )(
    "no page is wider than a window, and what calls cost is in sight; none takes what it does not have",
    async () => {
      await seedSettings(gateway);
      const { page } = reader;
      const wrong: string[] = [];
      for (const path of await allPages(gateway)) {
        await page.setViewportSize({ width: 390, height: 900 });
        await open(path);
        for (const width of [390, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          const found = (await page.evaluate(TOO_WIDE)) as string[];
          wrong.push(...new Set(found.map((what) => `${width}: ${path}: ${what}`)));
        }
        const said = page.getByRole("alert").getByText("nonsense: th");
        // A page may still put its own address right.
        await until(async () => {
          await reader.follow("?nonsense=1");
          return await said.isVisible();
        });
      }
      expect(wrong).toEqual([]);
    },
  );

  test.each([
    ["/settings/keys?edit=key:nonsense", "There is no such key."],
    ["/settings/keys?key.sort=nonsense", "key.sort=nonsense: expected one of name, month"],
    ["/overview?from=tomorrow", "from: must be a date"],
    ["/pull-requests?number=seven", "number: Expected the number"],
  ])("%s says what is wrong, in the address's words and without a dead button", async (path, fault) => {
    const page = await open(path);
    const said = page.getByRole("alert").filter({ hasText: fault });
    await said.waitFor();
    expect(await said.textContent()).not.toContain("spec.");
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  });

  test("repositories are found by a text, sorted by what the month's merges cost, and a row opens its pull requests", async () => {
    const page = await open("/settings/github");
    const rows = page.getByRole("region", { name: "Repositories" }).locator("tbody tr[data-row]");
    await page.getByRole("button", { name: "Merged this month" }).click();
    await page.waitForURL(/repository.sort=-month/);
    await reader.settled();
    const costs = await rows
      .locator("[data-exact^='$']")
      .evaluateAll((all) => all.map((it) => Number(it.getAttribute("data-exact")?.slice(1))));
    // A month that has just begun has no merges yet.
    if (new Date().getUTCDate() > 2) expect(costs.length).toBeGreaterThan(1);
    expect(costs).toEqual(costs.toSorted((a, b) => b - a));
    await page.getByRole("searchbox", { name: "Find a repository" }).fill("CHECK");
    await rows.nth(1).waitFor({ state: "detached" });
    await rows.first().locator("td").last().click();
    await page.waitForURL(/\/pull-requests\?repository=acme%2Fcheckout/);
  });

  test("an address that no page has is a page of the console that says so", async () => {
    const answer = await reader.page.goto("/nothing/here");
    expect(answer?.status()).toBe(404);
    await reader.page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
    await reader.page.getByRole("navigation", { name: "Main" }).waitFor();
    // The browser says that its answer was a 404.
    await expectFit(reader);
    await open("/pull-requests/acme/checkout/nonsense");
    await reader.page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
  });

  test("a member is told once who has a page, and has nothing there that the role cannot do", async () => {
    const member = await visit(await launchBrowser(), { origin: gateway.url });
    await followLink(member, await linkFor(gateway, "dev-2@example.com"));
    const { page, follow } = member;
    const said: Record<string, string> = {};
    // Settings are all alike.
    for (const path of (await allPages(gateway)).filter((it) => !it.startsWith("/settings/"))) {
      await follow(path);
      if ((await page.getByText("Your role does not allow this").count()) > 0) said[path] = "refused";
      if ((await page.getByText("This page is for").count()) === 0) continue;
      said[path] = (await page.getByRole("main").getByRole("button").allTextContents()).join();
    }
    expect(Object.keys(said)).toEqual([
      "/overview",
      "/reports",
      "/reports/commerce-by-model",
      "/explore",
      "/pull-requests/costs",
      "/pull-requests/explained",
      "/set-up",
      "/settings",
    ]);
    expect(new Set(Object.values(said))).toEqual(new Set(["Copy a message to an administrator"]));
    await page.context().close();
  });

  test("what fails in several parts of a page is said once, under the page's heading, and tried again together", async () => {
    const page = reader.page;
    await page.route(/\/v1\/(?!me)/, (route) =>
      route.fulfill({ status: 500, json: { error: { type: "api_error", message: "An internal error." } } }),
    );
    for (const path of ["/explore", "/reports/spend-by-model", "/settings/people"]) {
      await load(path);
      await page.getByRole("alert").getByText("An internal error.").waitFor();
      expect(await page.getByRole("alert").count()).toBe(1);
    }
    expect(await page.getByText("Not loaded.").count()).toBe(3);
    await page.unroute(/\/v1\/(?!me)/);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Not loaded.").first().waitFor({ state: "detached" });
    await page.getByRole("alert").waitFor({ state: "detached" });
    reader.faults.length = 0;
  });

  test("while nothing answers the page says so once, and continues by itself", async () => {
    const page = await open("/overview");
    await page.route(/\/v1\//, (route) => route.abort());
    await page.getByRole("link", { name: "Requests", exact: true }).click();
    await page.getByText("The gateway does not answer", { exact: true }).waitFor();
    await page.getByText("Not loaded.").first().waitFor();
    expect(await page.getByRole("alert").count()).toBe(1);
    await page.unroute(/\/v1\//);
    await page.locator("tbody tr[data-row]").first().waitFor();
    await page.getByText("The gateway does not answer", { exact: true }).waitFor({ state: "detached" });
    // What was cut off is said there, too.
    reader.faults.length = 0;
  });

  test("the palette finds what has a name on the server, opens it, and does actions", async () => {
    await gateway.admin("POST", "/keys", { name: "zz-release-bot" });
    const page = await load("/reports");
    const find = async (text: string, option: string) => {
      await page.keyboard.press("Control+k");
      await page
        .getByRole("textbox", { name: "Search", exact: true })
        .or(page.getByLabel("Search", { exact: true }))
        .first()
        .fill(text);
      await page.getByRole("button", { name: option }).click();
    };
    await find("release-b", "zz-release-bot");
    await page.getByRole("dialog", { name: "zz-release-bot" }).waitFor();
    await page.keyboard.press("Escape");
    const { data } = await gateway.admin<{ data: PullRequestView[] }>("GET", "/pull-requests?limit=1");
    const name = `${data[0]?.repository}#${data[0]?.number}`;
    await find(name.split("/")[1] ?? "", name);
    await page.getByRole("heading", { level: 1, name: `#${data[0]?.number}` }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder(/^Pages, people/).waitFor();
    await expectFit(reader);
    await page.keyboard.press("Escape");
    // Focus is back where it was.
    const search = page.getByRole("button", { name: /^Search/ }).last();
    await search.focus();
    await page.keyboard.press("Enter");
    await page.getByPlaceholder(/^Pages, people/).waitFor();
    await page.keyboard.press("Escape");
    await until(() => search.evaluate((it) => it === document.activeElement));
    await find("add a team", "Add a team");
    await page.getByRole("dialog", { name: "Add team" }).waitFor();
  });

  test("pull requests are narrowed to a team and to what cost at least an amount, and saved as CSV", async () => {
    const page = await open("/pull-requests?team=commerce&min_cost=1");
    const rows = page.getByRole("region", { name: "Pull requests" }).locator("tbody tr[data-row]");
    const costs = await rows
      .locator("td:nth-child(2) [data-exact]")
      .evaluateAll((all) => all.map((it) => it.getAttribute("data-exact")));
    expect(costs.length).toBeGreaterThan(0);
    expect(costs.every((usd) => Number(usd?.slice(1)) >= 1)).toBe(true);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "CSV" }).click(),
    ]);
    const [head, ...lines] = (await downloaded(download)).trim().split("\r\n");
    expect(head).toStartWith("repository,number,state,author,");
    expect(lines.length).toBe(costs.length);
    await open("/pull-requests?min_cost=dear");
    await page.getByText("min_cost: Expected an amount in USD").waitFor();
  });

  test("requests can be narrowed to a team and the teams below it", async () => {
    const page = await open("/requests?team=commerce");
    const teams = await page.locator("tbody tr td:nth-child(4) small").allTextContents();
    expect(teams.length).toBeGreaterThan(0);
    expect(teams.every((text) => /^(payments|growth|risk) /.test(text))).toBe(true);
  });

  test("budgets that are used up are on the overview, with what was spent", async () => {
    await gateway.admin("PATCH", "/teams/design", { budget_usd: "0.01", budget_period: "month" });
    const page = await load("/overview");
    const budgets = page.getByRole("region", { name: "Budgets at risk" });
    await budgets.getByText("design").waitFor();
    expect(await budgets.textContent()).toContain("of $0.0100");
    await expectFit(reader);
  });

  test("the month's costliest teams are on the overview, with merges, budget and forecast", async () => {
    const page = await open("/overview");
    const rows = page.locator(".table-scroll[aria-label='Teams this month'] tbody tr");
    const row = rows.filter({ hasText: /of \$/ }).first();
    // Team, spend, cost of each merge, merges, budget used, forecast with its range.
    await row.getByText(/^\$[\d.,]+ to \$[\d.,]+$/).waitFor();
    expect(await row.textContent()).toMatch(/^[a-z]+\D*\$[\d.,]+.*(\$[\d.,]+|–)\d+\$.+ of \$.+ to \$/);
    // They are those of this month alone.
    await open("/overview?range=7d");
    expect(await rows.count()).toBe(0);
  });

  test("a day that is chosen is compared with nothing, because no day before is that day", async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const page = await open(`/overview?range=30d&day=${yesterday}`);
    await page.getByRole("region", { name: "Spend by day" }).waitFor();
    expect(await page.getByRole("region", { name: "What moved the cost" }).count()).toBe(0);
    expect(await page.locator("main").textContent()).not.toContain("Nothing was spent before");
    expect(await page.getByRole("button", { name: "Compare", exact: true }).isDisabled()).toBe(true);
  });

  test("hostile names are inert text, and stay within the page", async () => {
    const page = await open(`/requests/${await hostileRecord()}`);
    expect(await page.title()).toMatch(/^Request [0-9a-f]{8}…[0-9a-f]{4} · Tallygate$/);
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.locator("main").textContent()).not.toContain(HOSTILE.client);
    await expectFit(reader, "both");
  });

  test("a report that is sorted by a measure and then asked without it is shown unsorted", async () => {
    const asked = "/explore?by=model&measure=cost_usd&range=30d&view=table";
    const page = await open(`${asked}&measure=requests`);
    const heads = page.locator("main thead");
    await heads.getByRole("button", { name: "Requests" }).click();
    await heads.locator("[aria-sort=descending]").waitFor();
    await open(asked);
    await until(async () => (await heads.getByRole("button").allTextContents()).join() === "Model,Cost");
    expect(await page.locator("main tbody tr[data-row]").count()).toBeGreaterThan(1);
  });

  test("hostile names are inert text in a report and in its CSV", async () => {
    const page = await open("/explore?by=model&by=tag&measure=requests&range=7d&view=table");
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.title()).toBe("Explore · Tallygate");
    expect(await page.locator("main").textContent()).toContain(HOSTILE.model);
    await open("/explore?by=session&measure=requests&range=7d&view=table");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const csv = await downloaded(download);
    expect(csv).toContain(HOSTILE.session);
    // A spreadsheet runs what begins with =; a quote before it makes it text.
    expect(csv).not.toMatch(/^"?=/m);
    expect(csv).not.toMatch(/,"?=/);
  });
});
