import { beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import type { Browser, Page } from "playwright-core";
import { openDatabase } from "#drizzle/database.ts";
import { requests } from "#drizzle/schema/records.ts";
import type { PullRequestPage } from "#shared/admin/pull-requests.ts";
import { recordAt } from "#test/admin/records.ts";
import { linkFor } from "#test/identity/browser.ts";
import { atEnd } from "#test/support/at-end.ts";
import {
  BROWSER,
  downloaded,
  faultsOfAccess,
  followLink,
  launchBrowser,
  type Visit,
  visit,
} from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { Repository } from "#test/support/fake-github/world.ts";
import { ADMIN_KEY, MASTER_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { localGithubApp } from "#test/support/running-github-app.ts";
import { until } from "#test/support/until.ts";
import { expectFit, openByName } from "./fit.ts";

// One story: from the first start to the cost of a merged pull request, and who sees it. Each test goes on where the one
// before it ended.

const SESSION = "task-42";
const OTHER_SESSION = "of-team-beta";
const DAY_MS = 86_400_000;
const USAGE = { prompt_tokens: 120_000, completion_tokens: 3000, input_tokens: 120_000, output_tokens: 3000 };

describe.skipIf(!BROWSER)("from the first start to the cost of a merge", () => {
  let vendor: LLMock;
  let gateway: LocalGateway;
  let github: FakeGithub;
  let app: { url: string };
  let browser: Browser;
  let admin: Visit;
  let page: Page;
  let secret: string;
  let shared: string;
  let pullRequest: string;
  let repository: Repository;

  const dialog = () => page.getByRole("dialog");
  const step = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  const visitAs = async (email: string): Promise<Visit> => {
    const reader = await visit(browser, { origin: gateway.url });
    await followLink(reader, await linkFor(gateway, email));
    return reader;
  };

  /** Calls of another team, one of them in the period before. */
  async function callsOfTeamBeta(): Promise<void> {
    const database = openDatabase(gateway.databaseUrl, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    const at = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
    const facts = { owner: "eve@example.com", teams: ["beta"], session: OTHER_SESSION, model: "gpt-5.1" };
    const counts = { inputTokens: 1000, uncachedInputTokens: 1000, outputTokens: 10 };
    await database.db
      .insert(requests)
      .values([
        ...[1, 40].map((days) =>
          recordAt(at(days), { ...facts, ...counts, costUsd: "0.5", tokenCostUsd: "0.5" }),
        ),
        recordAt(at(2), { ...facts, ...counts, unpriced: true }),
      ]);
    await database.close();
  }

  beforeAll(async () => {
    vendor = await LLMock.create({ port: 0 });
    atEnd(() => vendor.stop());
    vendor.on({}, { content: "Done.", usage: USAGE });
    gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
    github = startFakeGithub();
    atEnd(() => github.stop());
    app = await localGithubApp({
      ...{ DATABASE_URL: gateway.databaseUrl, PORT: new URL(gateway.url).port },
      ...{ GHE_HOST: github.host, GHE_PROTOCOL: "http", ADMIN_KEY, MASTER_KEY },
    });
    browser = await launchBrowser();
    admin = await visit(browser, { origin: gateway.url });
    page = admin.page;
  });

  test("the first link signs the first administrator in and opens Set up, where no step is done", async () => {
    await followLink(admin, await linkFor(gateway, null));
    await page.getByRole("heading", { level: 1, name: "Set up" }).waitFor();
    await step("Add a provider").getByText("Not yet").waitFor();
    expect(await page.getByText("Done", { exact: true }).count()).toBe(0);
    await expectFit(admin);
  });

  test("a provider is tested before it is saved; its models are offered for the route; a key is made in place", async () => {
    const provider = step("Add a provider");
    await provider.getByRole("button", { name: "OpenAI" }).click();
    await provider.getByRole("button", { name: "Test and add" }).click();
    await provider.getByText("API key of OpenAI: This is required.").waitFor();
    await page.keyboard.type("a-vendors-key");
    expect(await provider.getByLabel(/^API key of OpenAI/).inputValue()).toBe("a-vendors-key");
    await provider.getByLabel(/^Address/).fill("http://127.0.0.1:9/v1");
    await provider.getByRole("switch", { name: /Allow plain http/ }).check();
    await provider.getByRole("button", { name: "Test and add" }).click();
    await provider.getByText("Nothing listens at this address").waitFor();
    expect(await gateway.admin<{ data: unknown[] }>("GET", "/providers")).toMatchObject({
      data: [{ name: "echo" }],
    });
    await provider.getByLabel(/^Address/).fill(`${vendor.url}/v1`);
    await expectFit(admin);
    await provider.getByRole("button", { name: "Test and add" }).click();
    await provider.getByText("Done", { exact: true }).waitFor();
    const route = step("Add a route");
    await route.getByLabel(/^Model/).click();
    await page.getByRole("option", { name: "gpt-4o", exact: true }).waitFor();
    await route.getByLabel(/^Model/).fill("gpt-5.1");
    await page.keyboard.press("Tab");
    await expectFit(admin);
    await route.getByRole("button", { name: "Add the route" }).click();
    await route.getByText("Done", { exact: true }).waitFor();
    await step("Make a key").getByRole("button", { name: "Make the key" }).click();
    await step("Make a key").getByText("Done", { exact: true }).waitFor();
  });

  test("the sample for the vendor's SDK has the new key and route, and its call is noticed", async () => {
    const first = step("Make the first call");
    const own = (await first.locator("[data-secret]").textContent()) ?? "";
    await first.getByText("OpenAI SDK").click();
    const sample = first.locator("[data-snippet='hello.mjs']");
    await sample.filter({ hasText: '"coding"' }).waitFor();
    await expectFit(admin);
    const text = (await sample.textContent()) ?? "";
    expect(text).toContain(own);
    const path = join(import.meta.dir, `hello-${crypto.randomUUID()}.mjs`);
    atEnd(() => rm(path, { force: true }));
    await Bun.write(path, text);
    const { stdout } = Bun.spawn([process.execPath, path], { stdio: ["ignore", "pipe", "inherit"] });
    expect(await new Response(stdout).text()).toContain("Done.");
    await first.getByText("Done", { exact: true }).waitFor();
  });

  test("people's teams and keys are made on their pages", async () => {
    await openByName(admin, "People and teams");
    for (const team of ["alpha", "beta"]) {
      await page.getByRole("button", { name: "Add team" }).click();
      await dialog().getByLabel("Name").fill(team);
      await dialog().getByRole("button", { name: "Add team" }).click();
      await dialog().waitFor({ state: "hidden" });
    }
    await openByName(admin, "Keys");
    await page.getByRole("button", { name: "Add key" }).click();
    await dialog().getByLabel("Name").fill("bob");
    await dialog().getByLabel("Owner").fill("bob@example.com");
    await dialog().getByLabel("Team").fill("alpha");
    await dialog().getByRole("button", { name: "Add key" }).click();
    secret = (await dialog().locator("[data-secret]").textContent()) ?? "";
    await page.keyboard.press("Escape");
    await dialog().waitFor({ state: "hidden" });
  });

  test("the record of a call with the vendor's SDK appears while the list is open", async () => {
    await openByName(admin, "Requests");
    const openai = new OpenAI({
      baseURL: `${gateway.url}/v1`,
      apiKey: secret,
      defaultHeaders: { "x-session-id": SESSION },
    });
    const { choices } = await openai.chat.completions.create({
      model: "coding",
      messages: [{ role: "user", content: "Hello" }],
    });
    expect(choices[0]?.message.content).toBe("Done.");
    const row = page.locator("tbody tr").filter({ hasText: "bob@example.com" });
    await row.getByText("gpt-5.1").waitFor();
    expect(await row.textContent()).toContain("120,000 in, 3,000 out");
    await expectFit(admin);
    await row.getByRole("link").first().click();
    await page.getByRole("region", { name: "Why it cost this" }).waitFor();
    await expectFit(admin);
  });

  test("the App is created on GitHub and installed from Set up, and the console notices it", async () => {
    // The stand-in's pages for people are on the real host, which is not reachable here.
    await admin.context.route("https://github.com/**", (route) => route.fulfill({ body: "GitHub" }));
    await openByName(admin, "Set up");
    const [popup] = await Promise.all([
      admin.context.waitForEvent("page"),
      step("Create the GitHub App").getByRole("button", { name: "Create it on GitHub" }).click(),
    ]);
    const address = popup.url();
    await popup.getByRole("button", { name: "Continue" }).click();
    await popup.getByLabel(/^Address/).fill(app.url);
    for (const colorScheme of ["light", "dark"] as const) {
      await popup.emulateMedia({ colorScheme });
      expect(await faultsOfAccess(popup)).toEqual([]);
    }
    await popup.getByRole("button", { name: "Continue" }).click();
    await popup.getByRole("button", { name: /to GitHub/ }).click();
    await popup.waitForURL(/\/installations\/new$/);
    await popup.goto(address);
    await popup.getByRole("button", { name: "Continue" }).click();
    await popup.getByText("This link was used before").waitFor();
    await popup.close();
    await step("Create the GitHub App").getByRole("link", { name: "Install it" }).waitFor();
    repository = github.story.addRepository("acme/shop");
    await github.story.install({ repositories: [repository] });
    await step("Create the GitHub App").getByText("Done", { exact: true }).waitFor();
  });

  test("a stamped merge that came before joining is on is shown beside the switch, and joined by it; the last steps tick", async () => {
    const made = await github.story.openPullRequest({ repository, body: `Gateway-Session: ${SESSION}` });
    await github.story.merge(made);
    const joining = step("Join merged pull requests");
    await joining.getByText("1 merge arrived meanwhile").waitFor();
    await joining.getByText(SESSION).waitFor();
    await expectFit(admin);
    await joining.getByRole("switch").click();
    for (const name of ["Join merged pull requests", "Stamp a pull request", "Merge it"]) {
      await step(name).getByText("Done", { exact: true }).waitFor();
    }
    await page.getByText("Everything is set up").waitFor();
    await expectFit(admin);
    const path = `/pull-requests/${repository.id}-${made.number}`;
    const joined = await until(async () => {
      const found = await gateway.admin<PullRequestPage>("GET", path).catch(() => null);
      return found?.link === "joined" && found.repository !== null && found;
    });
    pullRequest = `/pull-requests/acme/shop/${made.number}`;
    await openByName(admin, "Pull requests");
    await page.getByRole("link", { name: `shop #${made.number}` }).click();
    const cost = page.getByRole("region", { name: "Cost", exact: true }).locator("[data-exact]");
    await cost.waitFor();
    expect(joined.session_cost_usd).not.toBeNull();
    expect(await cost.getAttribute("data-exact")).toBe(`$${joined.session_cost_usd}`);
    await expectFit(admin);
    await openByName(admin, "Overview");
    const merged = page.locator(".tile").filter({ hasText: "Cost per merged pull request" });
    await merged.locator(`[data-exact="$${joined.session_cost_usd}"]`).first().waitFor();
    await expectFit(admin);
    await openByName(admin, "GitHub");
    await page.getByRole("region", { name: "The App" }).getByText("octo-org").waitFor();
    await expectFit(admin);
  });

  test("the explorer compares, and explains a change as a waterfall", async () => {
    await callsOfTeamBeta();
    await openByName(admin, "Explore");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.waitForURL(/compare=previous_period/);
    await admin.follow("/explore?by=none&measure=cost_decomposition&compare=previous_period&view=waterfall");
    const causes = page.getByRole("region", { name: "What moved the cost" });
    await causes.getByRole("img").waitFor();
    await causes.getByRole("button", { name: "Rate, mix and volume" }).click();
    await causes.getByText("Mix of models").waitFor();
    // The difference of lower bounds is no bound.
    await causes.getByText("the real change may be more or less").waitFor();
    expect(await causes.textContent()).not.toContain("≥");
    await admin.follow(
      "/explore?by=team&by=tier&by=session&measure=cost_usd&view=table&compare=previous_period",
    );

    await page.getByText(OTHER_SESSION).waitFor();
    await page.getByText(SESSION).waitFor();
    await expectFit(admin);
    shared = page.url();
  });

  test("a shared address shows a manager of a team what is the team's, and nothing of another team", async () => {
    await gateway.admin("POST", "/people", { email: "mia@example.com", role: "manager", team: "alpha" });
    const mia = await visitAs("mia@example.com");
    await mia.page.goto(shared);
    await mia.page.getByText(SESSION).waitFor();
    const main = mia.page.locator("main");
    for (const path of [shared, "/overview", "/requests", "/pull-requests", "/reports/spend-by-person"]) {
      await mia.follow(path);
      const text = await main.textContent();
      expect([path, text?.includes(OTHER_SESSION), text?.includes("beta"), text?.includes("eve@")]).toEqual([
        path,
        false,
        false,
        false,
      ]);
    }
    const navigation = mia.page.getByRole("navigation", { name: "Main" });
    expect(await navigation.getByRole("link", { name: "Providers" }).count()).toBe(0);
    await mia.context.close();
  });

  test("a member sees only what is theirs, and what a manager's address says instead", async () => {
    for (const email of ["bob@example.com", "eve@example.com"]) {
      await gateway.admin("POST", "/people", { email, role: "member" });
    }
    const [bob, eve] = [await visitAs("bob@example.com"), await visitAs("eve@example.com")];
    await bob.page.goto("/requests");
    await bob.page.locator("tbody tr").first().waitFor();
    expect(await bob.page.locator("tbody tr").count()).toBe(1);
    expect(await bob.page.locator("main").textContent()).not.toContain("eve@example.com");
    await bob.page.getByRole("combobox", { name: "Value of Model" }).click();
    await bob.page.getByRole("option", { name: "gpt-5.1" }).waitFor();
    await bob.page.keyboard.press("Escape");
    await bob.follow(pullRequest);
    await bob.page.getByRole("region", { name: "Cost", exact: true }).waitFor();
    await eve.follow(pullRequest);
    await eve.page.getByText("This is not your pull request").waitFor();
    expect(await eve.page.locator("main").textContent()).not.toContain(SESSION);
    await bob.follow(shared);
    await bob.page.getByText("This page is for managers and administrators").waitFor();
    expect(await bob.page.locator("main").getByRole("button").allTextContents()).toEqual([
      "Copy a message to an administrator",
    ]);
    await expectFit(bob);
    expect(await bob.page.locator("main").textContent()).not.toContain(OTHER_SESSION);
    await openByName(bob, "My usage");
    await expectFit(bob);
    await bob.context.close();
    await eve.context.close();
  });

  test("the report is saved as CSV and under a name, from which it opens again", async () => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const csv = await downloaded(download);
    expect(csv).toContain(SESSION);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await dialog().getByLabel("Title").fill("Sessions of teams");
    await dialog().getByRole("button", { name: "Save the report" }).click();
    await page.waitForURL(/\/reports\/sessions-of-teams$/);
    await openByName(admin, "Reports");
    await page.getByRole("link", { name: "Sessions of teams" }).click();
    await page.getByText(OTHER_SESSION).waitFor();
    await expectFit(admin);
  });

  test("after the sign-out the address shows nothing", async () => {
    await page.getByRole("button", { name: /admin/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    await page.goto(shared);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    expect(await page.locator("body").textContent()).not.toContain(SESSION);
  });
});
