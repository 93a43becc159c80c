import { beforeAll, describe, expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import { linkFor } from "#test/identity/browser.ts";
import { BROWSER, followLink, launchBrowser, type Visit, visit } from "#test/support/browser.ts";
import { HAS_CLICKHOUSE, startClickHouse } from "#test/support/clickhouse.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { until } from "#test/support/until.ts";
import { seedWorld } from "./seeded-world.ts";

const PERSON = "dev-1@example.com";

/** All other pages read from Postgres alone. */
const PAGES = [
  "/overview",
  "/reports/spend-by-model?compare=previous_period",
  "/reports/cost-per-merged-pr",
  "/reports/tool-outcomes",
  "/explore?by=day&by=team&measure=cost_usd",
  "/explore?by=none&measure=cost_decomposition&compare=previous_period&view=waterfall",
];

// Two gateways of one installation: the reports of one are read from Postgres, those of the other from ClickHouse.
describe.skipIf(!BROWSER || !HAS_CLICKHOUSE)(
  "the console shows the same with ClickHouse as with Postgres",
  () => {
    let gateway: LocalGateway;
    let postgres: Visit;
    let clickhouse: Visit;

    beforeAll(async () => {
      const server = await startClickHouse();
      gateway = await localGateway({ dataDir: `${scratch().path}/postgres` });
      const { databaseUrl } = gateway;
      const sql = connect(databaseUrl, { name: "seed", max: 1, statementTimeoutMs: 120_000 });
      await seedWorld(sql, { people: 24, days: 40 });
      // How long a budget will last depends on the moment.
      await sql`update teams set budget_usd = null, budget_period = null`;
      await sql`update keys set limits = null`;
      await sql`update people set role = 'administrator' where email = ${PERSON}`;
      await sql.end({ timeout: 1 });
      const env = { CLICKHOUSE_URL: await server.database() };
      const other = await localGateway({ dataDir: `${scratch().path}/clickhouse`, databaseUrl, env });
      // Reports are refused until the records are copied.
      const headers = { authorization: `Bearer ${ADMIN_KEY}` };
      await until(async () => (await fetch(`${other.url}/v1/reports?range=30d`, { headers })).ok);
      const browser = await launchBrowser();
      postgres = await visit(browser, { origin: gateway.url });
      await followLink(postgres, await linkFor(gateway, PERSON));
      clickhouse = await visit(browser, { origin: other.url });
      // Cookies are a host's, whatever the port.
      await clickhouse.context.addCookies(await postgres.context.cookies());
    });

    const open = async ({ page, settled }: Visit, path: string): Promise<void> => {
      await page.goto(path);
      await settled();
    };

    /** Every line of the open page, and every figure with all its digits. */
    const shownBy = async ({ page, faults }: Visit) => ({
      lines: String(
        await page.evaluate("document.querySelector('main').innerText.replaceAll(origin, '')"),
      ).split("\n"),
      figures: await page
        .locator("main [data-exact]")
        .evaluateAll((all) => all.map((it) => it.getAttribute("data-exact"))),
      faults,
    });

    test("on every page of reports, to the last digit", async () => {
      for (const path of PAGES) {
        await Promise.all([open(postgres, path), open(clickhouse, path)]);
        const both = () => Promise.all([shownBy(postgres), shownBy(clickhouse)]);
        // Charts are drawn once their place has a size.
        await until(async () => Bun.deepEquals(...(await both()))).catch(() => undefined);
        const [expected, shown] = await both();
        expect([path, shown]).toEqual([path, expected]);
        expect(shown.faults).toEqual([]);
      }
    });
  },
);
