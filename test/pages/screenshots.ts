/**
 * `bun run screenshots [PART …]`: pictures of every page from a seeded world, light and dark, wide and on a phone, into
 * gateway/pages/pictures. Parts of file names make only these.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { connect } from "#drizzle/database.ts";
import type { PullRequestView, RequestView } from "#shared/admin/records.ts";
import { linkFor } from "#test/identity/browser.ts";
import { endFile } from "#test/support/at-end.ts";
import { followLink, launchBrowser, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { seedWorld } from "./seeded-world.ts";

const PICTURES = join(import.meta.dir, "../../gateway/pages/pictures");

const VARIANTS = [
  { name: "light-1440", dark: false, width: 1440 },
  { name: "dark-1440", dark: true, width: 1440 },
  { name: "light-390", dark: false, width: 390 },
  { name: "dark-390", dark: true, width: 390 },
] as const;

async function pagesOf(gateway: GatewayProcess): Promise<[name: string, path: string][]> {
  const records = await gateway.admin<{ data: RequestView[] }>(
    "GET",
    "/requests?model=claude-opus-4-6&limit=1",
  );
  const merges = await gateway.admin<{ data: PullRequestView[] }>(
    "GET",
    "/pull-requests?link=joined&limit=1",
  );
  const [merge] = merges.data;
  return [
    ["overview", "/overview"],
    ["reports", "/reports"],
    ["report", "/reports/spend-by-model?compare=previous_period"],
    ["explore", "/explore?by=day&by=client&measure=cost_usd&measure=requests"],
    ["pull-requests", "/pull-requests"],
    ["pull-request", `/pull-requests/${merge?.repository}/${merge?.number}`],
    ["requests", "/requests"],
    ["request", `/requests/${records.data[0]?.id}`],
    ["tool-calls", "/tool-calls"],
  ];
}

async function main(parts: readonly string[]): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  const gateway = await startGateway({ dataDir: `${scratch().path}/gateway` });
  const sql = connect(gateway.databaseUrl, { name: "seed", max: 1, statementTimeoutMs: 120_000 });
  await seedWorld(sql);
  await sql.end({ timeout: 1 });
  const browser = await launchBrowser();
  const first = await visit(browser, { origin: gateway.url });
  await followLink(first, await linkFor(gateway, null));
  for (const [name, path] of await pagesOf(gateway)) {
    for (const variant of VARIANTS) {
      const file = `${name}-${variant.name}.png`;
      if (parts.length > 0 && !parts.some((part) => file.includes(part))) continue;
      const { page, context } = await visit(browser, { ...variant, origin: gateway.url });
      await context.addCookies(await first.context.cookies());
      await page.goto(path);
      await page.waitForLoadState("networkidle");
      await page.screenshot({ path: join(PICTURES, file), fullPage: true });
      await context.close();
      console.log(file);
    }
  }
}

try {
  await main(process.argv.slice(2));
} finally {
  await endFile();
}
