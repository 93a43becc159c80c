/**
 * `bun test/bench/pages/overview.ts [records] [runs]`: fills a Postgres of its own with that many records (1,000,000), starts a
 * gateway on it, and prints how long the Overview takes in a browser from the click on its link until its tiles, its stacked
 * chart and its lists are drawn, `runs` times (10): with nothing in the browser's memory, as after signing in. `KEEP=directory`
 * keeps the database there, and takes it up again.
 */

import { connect } from "#drizzle/database.ts";
import { filled } from "#test/bench/reports/filled.ts";
import { percentile } from "#test/bench/reports/measure.ts";
import { linkFor } from "#test/identity/browser.ts";
import { endFile } from "#test/support/at-end.ts";
import { followLink, launchBrowser, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { startGateway } from "#test/support/gateway-process.ts";

const [records = 1_000_000, runs = 10] = process.argv.slice(2).map(Number);

/** In the page: clicks the link, and looks at each frame whether all is there. A legend comes with the stacked chart. */
const PARTS = [
  ".tiles",
  "section[aria-label='Spend by day'] .legend",
  "section[aria-label='What moved the cost'] svg",
  "section[aria-label=Models] .bar-row",
];
const CLICK_TO_DRAWN = `new Promise((drawn) => {
  const start = performance.now();
  const look = () => {
    if (${JSON.stringify(PARTS)}.every((part) => document.querySelector(part))) requestAnimationFrame(() => drawn(performance.now() - start));
    else requestAnimationFrame(look);
  };
  [...document.querySelectorAll("nav a")].find((it) => it.textContent === "Overview").click();
  look();
})`;

const { url, stop } = await filled(records, process.env["KEEP"]);
try {
  const sql = connect(url, { name: "bench", max: 1, statementTimeoutMs: 0 });
  await sql`analyze`;
  await sql.end({ timeout: 1 });
  const gateway = await startGateway({ dataDir: `${scratch().path}/gateway`, databaseUrl: url });
  const reader = await visit(await launchBrowser(), { origin: gateway.url });
  // A database that was kept has its administrator already.
  const { data } = await gateway.admin<{ data: { email: string; role: string }[] }>("GET", "/people");
  const known = data.find(({ role }) => role === "administrator");
  await followLink(reader, await linkFor(gateway, known?.email ?? null));
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    await reader.page.goto("/set-up");
    await reader.settled();
    times.push(Number(await reader.page.evaluate(CLICK_TO_DRAWN)));
  }
  const shown = times.map((ms) => ms.toFixed(0)).join(", ");
  console.log(
    `${shown} ms; median ${percentile(times, 0.5).toFixed(0)} ms, worst ${Math.max(...times).toFixed(0)} ms`,
  );
} finally {
  await endFile();
  await stop();
}
process.exit();
