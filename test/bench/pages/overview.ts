/**
 * `bun test/bench/pages/overview.ts [records] [runs]`: fills a Postgres of its own with that many records (1,000,000), starts a
 * gateway on it, and prints how long the Overview takes, `runs` times (10):
 *
 * - from the click on its link until its tiles, its stacked chart and its lists are drawn, with nothing in the browser's memory,
 *   as after signing in; and when it was seen before
 * - what it asks of the reporting API, asked by 2 and by 20 readers at once without a pause, and by 20 readers who each
 *   see another team, while records arrive all the time and while none does; with Postgres's processor time for an answer,
 *   and with the p95 of many readers as a multiple of that of two
 *
 * `KEEP=directory` keeps the database there, and takes it up again.
 */

import { connect } from "#drizzle/database.ts";
import { filled } from "#test/bench/reports/filled.ts";
import { percentile } from "#test/bench/reports/measure.ts";
import { linkFor } from "#test/identity/browser.ts";
import { endFile } from "#test/support/at-end.ts";
import { followLink, launchBrowser, type Visit, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { startGateway } from "#test/support/gateway-process.ts";

const [records = 1_000_000, runs = 10] = process.argv.slice(2).map(Number);
const READ_MS = 10_000;

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

type Question = { url: string; body: string };

/** Asks again and again for what the page asks; returns how long each page took. */
async function read(questions: readonly Question[], cookie: string): Promise<number[]> {
  const times: number[] = [];
  for (const end = performance.now() + READ_MS; performance.now() < end; ) {
    const begun = performance.now();
    for (const { url, body } of questions) {
      const headers = {
        cookie,
        origin: new URL(url).origin,
        "content-type": "application/json",
        "accept-encoding": "gzip",
      };
      const answer = await fetch(url, { method: "POST", body, headers });
      if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
      await answer.arrayBuffer();
    }
    times.push(performance.now() - begun);
  }
  return times;
}

/** A call that has just ended, like an earlier one. */
const ARRIVES = `insert into requests
select (jsonb_populate_record(r, jsonb_build_object('id', uuidv7(), 'started_at', now()))).*
from requests r where started_at > now() - interval '60 days' limit 1`;

const { url, stop, cpuMs } = await filled(records, process.env["KEEP"]);
try {
  const sql = connect(url, { name: "bench", max: 1, statementTimeoutMs: 0 });
  await sql`analyze`;
  const gateway = await startGateway({ dataDir: `${scratch().path}/gateway`, databaseUrl: url });
  const reader = await visit(await launchBrowser(), { origin: gateway.url });
  // A database that was kept has its administrator already.
  const { data } = await gateway.admin<{ data: { email: string; role: string }[] }>(
    "GET",
    "/people?limit=500",
  );
  const known = data.find(({ role }) => role === "administrator");
  await followLink(reader, await linkFor(gateway, known?.email ?? null));
  const questions: Question[] = [];
  const note = (request: { method(): string; url(): string; postData(): string | null }) => {
    const isReport = request.method() === "POST" && request.url().includes("/v1/reports");
    if (isReport) questions.push({ url: request.url(), body: request.postData() ?? "" });
  };
  const cold: number[] = [];
  const seen: number[] = [];
  for (let run = 0; run < runs; run++) {
    await sql.unsafe(ARRIVES);
    await reader.page.goto("/set-up");
    await reader.settled();
    if (run === 0) reader.page.on("request", note);
    cold.push(Number(await reader.page.evaluate(CLICK_TO_DRAWN)));
    await reader.settled();
    reader.page.off("request", note);
    await reader.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Set up" }).click();
    await reader.settled();
    seen.push(Number(await reader.page.evaluate(CLICK_TO_DRAWN)));
  }
  print("from the click to drawn", cold);
  print("seen before", seen);
  await reader.page.goto("about:blank");

  const cookieIn = async ({ context }: Visit) =>
    (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const cookieOf = async (team: string) => {
    const email = `manager-of-${team}@example.com`;
    if (!data.some((person) => person.email === email)) {
      await gateway.admin("POST", "/teams", { name: team }).catch(() => undefined);
      await gateway.admin("POST", "/people", { email, role: "manager", team });
    }
    const other = await visit(await launchBrowser(), { origin: gateway.url });
    await followLink(other, await linkFor(gateway, email));
    const cookie = await cookieIn(other);
    await other.context.close();
    return cookie;
  };
  const own = await cookieIn(reader);
  const teams: string[] = [];
  for (let team = 0; team < 12; team++) teams.push(await cookieOf(`team-${team}`));
  const crowds: [string, string[]][] = [
    ["2 readers", Array(2).fill(own)],
    ["20 readers", Array(20).fill(own)],
    ["20 readers of 12 teams", Array.from({ length: 20 }, (_, i) => teams[i % teams.length] ?? own)],
  ];
  for (const arrive of [true, false]) {
    let ofTwo: number | null = null;
    for (const [words, cookies] of crowds) {
      let isOver = false;
      const arriving = (async () => {
        for (; arrive && !isOver; await Bun.sleep(20)) await sql.unsafe(ARRIVES);
      })();
      const before = cpuMs();
      const times = (await Promise.all(cookies.map((cookie) => read(questions, cookie)))).flat();
      isOver = true;
      await arriving;
      const each = ((cpuMs() - before) / times.length).toFixed(1);
      const p95 = percentile(times, 0.95);
      ofTwo ??= p95;
      print(
        `${words}, ${arrive ? "records arrive" : "no records"}`,
        times,
        ` (${(p95 / ofTwo).toFixed(2)} of two), ${each} ms of Postgres for each page`,
      );
    }
  }
  await sql.end({ timeout: 1 });
} finally {
  await endFile();
  await stop();
}
process.exit();

function print(words: string, times: readonly number[], more = ""): void {
  const [p50, p95] = [0.5, 0.95].map((p) => percentile(times, p).toFixed(0));
  console.log(`${words}: ${times.length} pages, p50 ${p50} ms, p95 ${p95} ms${more}`);
}
