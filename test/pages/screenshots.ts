/**
 * `bun run screenshots [PART …]`: pictures of every page from a seeded world, light and dark, wide and on a phone, into
 * gateway/pages/pictures. Parts of file names make only these. Those of the README and the docs (`readme-…`) are kept with
 * the code; those of a month's closing (`readme-month-…`) are made together.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { connect } from "#drizzle/database.ts";
import { longTimeGroup } from "#gateway/pages/parts/dates.ts";
import { linkFor } from "#test/identity/browser.ts";
import { endFile } from "#test/support/at-end.ts";
import { followLink, launchBrowser, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { LAST_MONTH, seedMonth } from "./seeded-month.ts";
import { seedSettings } from "./seeded-settings.ts";
import { seedWorld } from "./seeded-world.ts";
import { NEW_SHOTS, PERSON, type Shot, shotsOf, showRestatement } from "./shots.ts";

const PICTURES = join(import.meta.dir, "../../gateway/pages/pictures");
/** A page may be taller than this; no browser draws taller ones at once. */
const TALLEST_PX = 8000;

const VARIANTS = [
  { name: "light-1440", dark: false, width: 1440, height: 900 },
  { name: "dark-1440", dark: true, width: 1440, height: 900 },
  { name: "light-390", dark: false, width: 390, height: 844 },
  { name: "dark-390", dark: true, width: 390, height: 844 },
] as const;
type Variant = (typeof VARIANTS)[number];

/** The README's pictures: one window each, and as small as a page that is opened often must be. */
const README = { width: 1280, height: 860 };
const README_PICTURES = [
  { page: "overview", dark: false },
  { page: "explore", dark: false },
  { page: "pull-request", dark: true },
] as const;

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
type Sessions = Record<NonNullable<Shot["as"]>, Session>;

type Variation = { variant: Variant; sessions: Sessions; shots: readonly Shot[]; parts: readonly string[] };

async function makeVariant(
  browser: Browser,
  gateway: GatewayProcess,
  { variant, sessions, shots, parts }: Variation,
): Promise<void> {
  const { page, context } = await visit(browser, { ...variant, origin: gateway.url });
  const make = async ({ name, path, act, undo }: Shot) => {
    const file = `${name}-${variant.name}.png`;
    await page.goto(path);
    await page.waitForLoadState("networkidle");
    await act?.(page);
    await picture(page, variant, join(PICTURES, file));
    await undo?.(page);
    const over = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
    console.log(over > 0 ? `${file}: ${over} px too wide` : file);
  };
  for (const shot of shots) {
    if (!isWanted(`${shot.name}-${variant.name}.png`, parts)) continue;
    await context.clearCookies();
    if (shot.path !== "/sign-in") await context.addCookies(sessions[shot.as ?? "administrator"]);
    await make(shot);
  }
  await context.close();
}

const isWanted = (file: string, parts: readonly string[]): boolean =>
  parts.length === 0 || parts.some((part) => file.includes(part));

async function makeReadmePictures(
  browser: Browser,
  gateway: GatewayProcess,
  { session, parts }: { session: Session; parts: readonly string[] },
): Promise<void> {
  const shots = await shotsOf(gateway);
  for (const { page: name, dark } of README_PICTURES) {
    const file = `readme-${name}.png`;
    if (!isWanted(file, parts)) continue;
    const { page, context } = await visit(browser, { ...README, dark, origin: gateway.url });
    await context.addCookies(session);
    await page.goto(shots.find((shot) => shot.name === name)?.path ?? "/");
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
  await showRestatement(page);
  await take("restate", "Correct the past");
  const past = page.getByRole("region", { name: "Correct the past" });
  await past.getByRole("button", { name: /^Restate / }).click();
  await past.getByText("Done.").waitFor();
  await page.goto(`/settings/statements?month=${LAST_MONTH}`);
  await page.getByRole("button", { name: "Close the month" }).click();
  await page.getByRole("button", { name: "Reopen the month" }).waitFor();
  await take("statement", `${longTimeGroup("month", LAST_MONTH)}, by team`);
  await page.goto("/settings/prices");
  await take("closed", "Closed months");
  await context.close();
}

/** Signs in as each of them; null: the first administrator. */
async function signedIn(
  browser: Browser,
  gateway: GatewayProcess,
  emails: (string | null)[],
): Promise<Sessions> {
  const sessions: Session[] = [];
  for (const email of emails) {
    const reader = await visit(browser, { origin: gateway.url });
    await followLink(reader, await linkFor(gateway, email));
    sessions.push(await reader.context.cookies());
    await reader.context.close();
  }
  const [administrator = [], member = []] = sessions;
  return { administrator, member };
}

async function main(parts: readonly string[]): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  const gateway = await startGateway({ dataDir: `${scratch().path}/gateway` });
  const sql = connect(gateway.databaseUrl, { name: "seed", max: 1, statementTimeoutMs: 120_000 });
  await seedWorld(sql, { people: 200, days: 90 });
  await sql`update people set role = 'administrator', team = null where email = ${PERSON}`;
  await seedSettings(gateway);
  const browser = await launchBrowser();
  const sessions = await signedIn(browser, gateway, [PERSON, "dev-2@example.com"]);
  await makeReadmePictures(browser, gateway, { session: sessions.administrator, parts });
  await seedMonth(gateway, sql);
  await sql.end({ timeout: 1 });
  const shots = [{ name: "sign-in", path: "/sign-in" }, ...(await shotsOf(gateway))];
  for (const variant of VARIANTS) await makeVariant(browser, gateway, { variant, sessions, shots, parts });
  if (isWanted("readme-month", parts)) await makeMonthPictures(browser, gateway, sessions.administrator);
  const isNewWanted = NEW_SHOTS.some(({ name }) =>
    VARIANTS.some((it) => isWanted(`${name}-${it.name}.png`, parts)),
  );
  if (!isNewWanted) return;
  const empty = await startGateway({ dataDir: `${scratch().path}/empty` });
  const first = await signedIn(browser, empty, [null]);
  for (const variant of VARIANTS) {
    await makeVariant(browser, empty, { variant, sessions: first, shots: NEW_SHOTS, parts });
  }
}

try {
  await main(process.argv.slice(2));
} finally {
  await endFile();
}
// Its Postgres ends with this process, and would keep it.
process.exit();
