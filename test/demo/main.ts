/**
 * `bun run demo`: the whole way, from a vendor's SDK to the cost per merged pull request, and the same sum by hand.
 * Exits with 0 if both are equal, 1 if they are not or something failed.
 */
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import type { RequestView } from "#shared/admin/records.ts";
import { reachDirectly } from "#shared/loopback.ts";
import type { Result } from "#shared/report.ts";
import { type Admin, adminOf, furnish } from "./admin.ts";
import { amountOf, costOf, outcomeOf, usd } from "./by-hand.ts";
import { deliverMerge, type Repository } from "./github.ts";
import { DemoFault, findPair, type Pair } from "./pair.ts";
import { LIST_PRICES, MERGES, type Merge, type SessionName, USES } from "./story.ts";
import { table } from "./table.ts";
import { talk } from "./talk.ts";
import { startVendor } from "./vendor.ts";

/** How long webhooks may take to be applied. */
const APPLIED_MS_MAX = 15_000;

const KINDS = ["input", "cached", "written", "output"];

const say = (text = "") => console.log(text);

/** Makes the names of this run: two runs never meet, in whatever installation. */
function namesOf(run: string) {
  const firstId = 9_000_000_000 + crypto.getRandomValues(new Uint32Array(1))[0]! * 2;
  const repositories: Record<Merge["repository"], Repository> = {
    checkout: { id: firstId, fullName: `demo-${run}/checkout` },
    search: { id: firstId + 1, fullName: `demo-${run}/search` },
  };
  return { repositories, sessionOf: (name: SessionName) => `demo-${run}-${name}` };
}

type Names = ReturnType<typeof namesOf>;

async function demo(pair: Pair, run: string): Promise<boolean> {
  const names = namesOf(run);
  const admin = adminOf(pair);
  const vendor = startVendor();
  const models = Object.keys(LIST_PRICES);
  const furnished = await furnish(admin, { run, models, ...vendor });
  try {
    say("Calls through the gateway, with the vendors' own SDKs, against a stand-in for the vendors …");
    for (const [index, use] of USES.entries()) {
      const session = use.session && names.sessionOf(use.session);
      const address = { gatewayUrl: pair.gatewayUrl, clientKey: furnished.clientKey };
      await talk(address, { use, index, session, route: furnished.routeOf(use.model) });
    }
    say("Signed webhooks for four merged pull requests of two repositories …\n");
    for (const { repository, number, sessions } of MERGES) {
      const merged = { number, repository: names.repositories[repository] };
      await deliverMerge(pair, { ...merged, sessions: sessions.map(names.sessionOf) });
    }
    await linksSettled(admin, names);
    const callsEqual = await showCalls(admin, names, furnished.routeOf);
    showMerges(names);
    return (await showReport(admin, names)) && callsEqual;
  } finally {
    await furnished.remove();
    await vendor.close();
  }
}

/** Waits until every pull request is linked as the story says. */
async function linksSettled(admin: Admin, { repositories }: Names): Promise<void> {
  const until = performance.now() + APPLIED_MS_MAX;
  for (;;) {
    const links = new Map<string, string>();
    for (const { fullName } of Object.values(repositories)) {
      const path = `/admin/v1/pull-requests?repository=${encodeURIComponent(fullName)}`;
      const { data } = await admin<{ data: PullRequestView[] }>("GET", path);
      for (const { repository, number, link } of data) links.set(`${repository}#${number}`, link);
    }
    const wrong = MERGES.filter(
      ({ repository, number, link }) => links.get(`${repositories[repository].fullName}#${number}`) !== link,
    );
    if (wrong.length === 0) return;
    if (performance.now() > until) {
      const shown = wrong.map(({ repository, number, link }) => {
        const name = `${repositories[repository].fullName}#${number}`;
        return `${name} is ${links.get(name) ?? "unknown"} and must be ${link}`;
      });
      throw new DemoFault(`Pull requests are not linked as they must be: ${shown.join("; ")}.`);
    }
    await Bun.sleep(100);
  }
}

/** Every call: tokens, their cost by hand, the cost that the gateway recorded. Whether all are equal. */
async function showCalls(admin: Admin, names: Names, routeOf: (model: string) => string): Promise<boolean> {
  const recorded = new Map<string, RequestView[]>();
  for (const model of Object.keys(LIST_PRICES)) {
    const path = `/admin/v1/requests?route=${routeOf(model)}&limit=100`;
    const { data } = await admin<{ data: RequestView[] }>("GET", path);
    recorded.set(model, data.toReversed());
  }
  let equal = true;
  const rows = USES.flatMap(({ sdk, mode, model, session, turns }) =>
    turns.map((tokens) => {
      const record = recorded.get(model)?.shift();
      const byHand = costOf(model, tokens);
      const sameSession = (record?.session ?? null) === (session && names.sessionOf(session));
      equal &&= sameSession && amountOf(record?.cost_usd ?? null) === byHand;
      const counts = [tokens.input, tokens.cacheRead, tokens.cacheWrite, tokens.output].map(String);
      return [session ?? "(none)", sdk, mode, model, ...counts, usd(byHand), record?.cost_usd ?? "missing"];
    }),
  );
  const prices = Object.entries(LIST_PRICES).map(([model, price]) => [
    model,
    ...[price.input, price.cacheRead, price.cacheWrite, price.output],
  ]);
  say(`List prices, USD per million tokens\n\n${table(["model", ...KINDS], prices)}\n`);
  const head = ["session", "sdk", "how", "model", ...KINDS];
  say("Calls: tokens × list price, and what the gateway recorded\n");
  say(`${table([...head, "by hand, USD", "recorded, USD"], rows)}\n`);
  return equal;
}

function showMerges({ repositories, sessionOf }: Names): void {
  const rows = MERGES.map(({ repository, number, sessions, link }) => [
    `${repositories[repository].fullName}#${number}`,
    sessions.map(sessionOf).join(", ") || "(none)",
    link,
  ]);
  say(`${table(["merged pull request", "Gateway-Session lines of its body", "link"], rows)}\n`);
}

/** The report, the same figures by hand, and whether they are equal. */
async function showReport(admin: Admin, { repositories }: Names): Promise<boolean> {
  const spec = {
    source: "outcomes",
    dimensions: ["repository"],
    measures: ["merged_prs", "joined_prs", "reviews", "cost_usd", "cost_per_merged_pr"],
    filters: { repository: Object.values(repositories).map(({ fullName }) => fullName) },
    range: "7d",
    compare: "none",
    view: "table",
  };
  const result = await admin<Result>("POST", "/v1/reports/query", { spec });
  const atLeast = (floor: boolean, value: unknown) => `${floor ? "≥ " : ""}${value ?? "null"}`;
  const rows = [...result.rows, result.total].map(({ groups, current, floor }) => [
    groups[0] ?? "total",
    ...[current?.merged_prs, current?.joined_prs, current?.reviews].map((it) => String(it ?? "null")),
    atLeast(floor, current?.cost_usd),
    atLeast(floor, current?.cost_per_merged_pr),
  ]);
  const head = ["repository", "merged", "joined", "reviews", "cost, USD", "cost per merged PR, USD"];
  say(`Cost per merged PR\n\n${table(head, rows)}\n`);

  const byHand = [...(Object.keys(repositories) as Merge["repository"][]), null].map((repository) => {
    const label = repository === null ? "total" : repositories[repository].fullName;
    const row = repository === null ? result.total : result.rows.find(({ groups }) => groups[0] === label);
    const { merged, joined, cost, perMerge } = outcomeOf(repository);
    const same =
      row?.current?.merged_prs === merged &&
      row.current.joined_prs === joined &&
      row.current.cost_usd === Number(usd(cost)) &&
      row.current.cost_per_merged_pr === Number(usd(perMerge));
    return { label, same, text: `${usd(cost)} ÷ ${merged} = ${usd(perMerge)}` };
  });
  const lines = byHand.map(({ label, text, same }) => [label, text, same ? "equal" : "NOT EQUAL"]);
  say(
    `By hand: tokens × list price of the joined sessions' calls, ÷ merged\n\n${table(["repository", "USD", "report"], lines)}\n`,
  );
  say("≥: a lower bound, because merges without exactly one session have no cost.\n");
  return byHand.every(({ same }) => same) && result.rows.length === 2;
}

reachDirectly();
const stopped = (async () => {
  const pair = await findPair(say);
  try {
    if (!pair.own) say(`Using the installation at ${pair.gatewayUrl}.`);
    const run = Date.now().toString(36) + crypto.getRandomValues(new Uint8Array(2)).toHex();
    return await demo(pair, run);
  } finally {
    await pair.close();
  }
})();

try {
  const equal = await stopped;
  say(equal ? "The report and the sum by hand are equal." : "The report and the sum by hand are NOT equal.");
  process.exit(equal ? 0 : 1);
} catch (error) {
  console.error(error instanceof DemoFault ? error.message : error);
  process.exit(1);
}
