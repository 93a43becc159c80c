/**
 * `bun run screenshots [PART …]`: pictures of every page from a seeded world, light and dark, wide and on a phone, into
 * gateway/pages/pictures. Parts of file names make only these. Those of the README and the docs (`readme-…`) are kept with
 * the code; those of a month's closing (`readme-month-…`) are made together.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { connect } from "#drizzle/database.ts";
import type { PersonView } from "#shared/admin/people.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import type { RequestView } from "#shared/admin/records.ts";
import { linkFor } from "#test/identity/browser.ts";
import { endFile } from "#test/support/at-end.ts";
import { followLink, launchBrowser, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { LAST_DAY, LAST_MONTH, seedMonth } from "./seeded-month.ts";
import { SAVED_REPORT, seedSettings } from "./seeded-settings.ts";
import { seedWorld } from "./seeded-world.ts";

const PICTURES = join(import.meta.dir, "../../gateway/pages/pictures");
/** Whose pages are pictured: an administrator with calls of her own. */
const PERSON = "dev-1@example.com";
/** A page may be taller than this; no browser draws taller ones at once. */
const TALLEST_PX = 8000;

const VARIANTS = [
  { name: "light-1440", dark: false, width: 1440, height: 900 },
  { name: "dark-1440", dark: true, width: 1440, height: 900 },
  { name: "light-390", dark: false, width: 390, height: 844 },
  { name: "dark-390", dark: true, width: 390, height: 844 },
] as const;
type Variant = (typeof VARIANTS)[number];

const SETTINGS = [
  "providers",
  "routes",
  "keys",
  "limits",
  "guardrails",
  "prices",
  "vendor-bills",
  "statements",
  "tool-servers",
  "alerts",
  "hook-policies",
  "people",
  "github",
  "audit",
] as const;

/** The README's pictures: one window each, and as small as a page that is opened often must be. */
const README = { width: 1280, height: 860 };
const README_PICTURES = [
  { page: "overview", dark: false },
  { page: "explore", dark: false },
  { page: "pull-request", dark: true },
] as const;

/** Every page, by the name of its pictures. */
async function pagesOf(gateway: GatewayProcess): Promise<[name: string, path: string][]> {
  const records = await gateway.admin<{ data: RequestView[] }>(
    "GET",
    "/requests?model=claude-opus-4-6&state=ok&limit=1",
  );
  const merges = await gateway.admin<{ data: PullRequestView[] }>(
    "GET",
    "/pull-requests?link=joined&limit=100",
  );
  const people = await gateway.admin<{ data: PersonView[] }>("GET", `/people?email=${PERSON}`);
  const [merge] = merges.data.toSorted((a, b) => b.session_requests - a.session_requests);
  return [
    ["overview", "/overview"],
    ["reports", "/reports"],
    ["report", "/reports/spend-by-model?compare=previous_period"],
    ["report-saved", `/reports/${SAVED_REPORT}`],
    ["explore", "/explore?by=day&by=team&measure=cost_usd&view=stacked"],
    [
      "explore-waterfall",
      "/explore?by=none&measure=cost_decomposition&compare=previous_period&view=waterfall",
    ],
    ["pull-requests", "/pull-requests"],
    ["costs", "/pull-requests/costs?compare=previous_period"],
    ["explained", "/pull-requests/explained?range=30d&explanation=no_pull_request"],
    ["pull-request", `/pull-requests/${merge?.repository}/${merge?.number}`],
    ["session", `/sessions/${encodeURIComponent(merge?.session ?? "")}`],
    ["requests", "/requests"],
    ["request", `/requests/${records.data[0]?.id}`],
    ["tool-calls", "/tool-calls"],
    ["me", "/me"],
    ["set-up", "/set-up"],
    ["settings", "/settings"],
    ["settings-person", `/settings/people/${people.data[0]?.id}`],
    ["settings-form", "/settings/routes?edit=route:code"],
    ["not-found", "/nothing/here"],
    ["cannot-ask", "/requests?modle=gpt-5.2"],
    ...SETTINGS.map((page): [string, string] => [`settings-${page}`, `/settings/${page}`]),
  ];
}

/** The whole page as if the window were as tall as it, so that what sticks to the window's edges is where it belongs. */
async function picture(page: Page, { width, height }: Variant, path: string): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForLoadState("networkidle");
  await page
    .locator("[aria-label=Loading], .replaced[aria-busy=true]")
    .first()
    .waitFor({ state: "detached" });
  // Lists grow with the window.
  for (let round = 0; round < 2; round++) {
    const full = Number(await page.evaluate("document.documentElement.scrollHeight"));
    await page.setViewportSize({ width, height: Math.min(TALLEST_PX, Math.max(height, full)) });
  }
  await page.screenshot({ path, animations: "disabled" });
  await page.setViewportSize({ width, height });
}

type Session = Awaited<ReturnType<BrowserContext["cookies"]>>;

async function makeVariant(
  browser: Browser,
  gateway: GatewayProcess,
  { variant, session, parts }: { variant: Variant; session: Session; parts: readonly string[] },
): Promise<void> {
  const { page, context } = await visit(browser, { ...variant, origin: gateway.url });
  const isWanted = (name: string) => parts.length === 0 || parts.some((part) => name.includes(part));
  const make = async (name: string, path: string) => {
    const file = `${name}-${variant.name}.png`;
    if (!isWanted(file)) return;
    await page.goto(path);
    await picture(page, variant, join(PICTURES, file));
    const over = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
    console.log(over > 0 ? `${file}: ${over} px too wide` : file);
  };
  await make("sign-in", "/sign-in");
  await context.addCookies(session);
  for (const [name, path] of await pagesOf(gateway)) await make(name, path);
  await context.close();
}

async function makeReadmePictures(
  browser: Browser,
  gateway: GatewayProcess,
  { session, parts }: { session: Session; parts: readonly string[] },
): Promise<void> {
  const paths = new Map(await pagesOf(gateway));
  for (const { page: name, dark } of README_PICTURES) {
    const file = `readme-${name}.png`;
    if (parts.length > 0 && !parts.some((part) => file.includes(part))) continue;
    const { page, context } = await visit(browser, { ...README, dark, origin: gateway.url });
    await context.addCookies(session);
    await page.goto(paths.get(name) ?? "/");
    await page.waitForLoadState("networkidle");
    await page.screenshot({ path: join(PICTURES, file), animations: "disabled" });
    await context.close();
    console.log(file);
  }
}

/** Closes last month as the docs describe it, with a picture of each step. */
async function makeMonthPictures(browser: Browser, gateway: GatewayProcess, session: Session): Promise<void> {
  const { page, context } = await visit(browser, { ...README, origin: gateway.url });
  await context.addCookies(session);
  const take = async (name: string, region: string) => {
    await page.waitForLoadState("networkidle");
    const file = `readme-month-${name}.png`;
    const panel = page.getByRole("region", { name: region, exact: true });
    await panel.screenshot({ path: join(PICTURES, file), animations: "disabled" });
    console.log(file);
  };
  await page.goto(`/settings/vendor-bills?month=${LAST_MONTH}`);
  await take("bill", "acme-anthropic");
  await page.goto("/settings/prices");
  const past = page.getByRole("region", { name: "Correct the past" });
  await past.getByLabel("From").fill(`${LAST_MONTH}-01`);
  await past.getByLabel("To").fill(LAST_DAY);
  await past.getByLabel("Model").fill("claude-opus-4-6");
  await past.getByRole("button", { name: "Show what would change" }).click();
  const restate = past.getByRole("button", { name: /^Restate / });
  await restate.waitFor();
  await take("restate", "Correct the past");
  await restate.click();
  await past.getByText("Done.").waitFor();
  await page.goto(`/settings/statements?month=${LAST_MONTH}`);
  await page.getByRole("button", { name: "Close the month" }).click();
  await page.getByRole("button", { name: "Reopen the month" }).waitFor();
  await take("statement", `${LAST_MONTH}, by team`);
  await page.goto("/settings/prices");
  await take("closed", "Closed months");
  await context.close();
}

async function main(parts: readonly string[]): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  const gateway = await startGateway({ dataDir: `${scratch().path}/gateway` });
  const sql = connect(gateway.databaseUrl, { name: "seed", max: 1, statementTimeoutMs: 120_000 });
  await seedWorld(sql, { people: 200, days: 90 });
  await sql`update people set role = 'administrator', team = null where email = ${PERSON}`;
  await seedSettings(gateway);
  const browser = await launchBrowser();
  const first = await visit(browser, { origin: gateway.url });
  await followLink(first, await linkFor(gateway, PERSON));
  const session = await first.context.cookies();
  await first.context.close();
  await makeReadmePictures(browser, gateway, { session, parts });
  if (parts.length === 0 || parts.some((part) => "readme-month".includes(part))) {
    await seedMonth(gateway, sql);
    await makeMonthPictures(browser, gateway, session);
  }
  await sql.end({ timeout: 1 });
  for (const variant of VARIANTS) await makeVariant(browser, gateway, { variant, session, parts });
}

try {
  await main(process.argv.slice(2));
} finally {
  await endFile();
}
// Its Postgres ends with this process, and would keep it.
process.exit();
