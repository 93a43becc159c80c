import { beforeAll, describe, expect, test } from "bun:test";
import { dropOldMonths } from "#drizzle/retention.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";
import { type Browser, signIn } from "./browser.ts";

// Who sees a pull request whole, and who only their own part: naming a session gives no rights.

const REPOSITORY = 4711;
const NOWHERE = "http://127.0.0.1:9";
/** The author, the owner of most calls, one who made one call, their managers, and one who made none. */
const PEOPLE = {
  ann: { role: "member", team: "alpha", github_login: "Ann-At-GitHub" },
  bob: { role: "member", team: "beta" },
  eve: { role: "member", team: "gamma" },
  may: { role: "manager", team: "alpha" },
  max: { role: "manager", team: "beta" },
  mia: { role: "manager", team: "gamma" },
  zoe: { role: "member", team: "gamma" },
  root: { role: "administrator" },
} as const;
type Name = keyof typeof PEOPLE;

let gateway: WiredGateway;
const browsers = {} as Record<Name, Browser>;

async function calls(owner: Name, session: string, count: number): Promise<void> {
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", {
    name: `key of ${owner}`,
    owner: `${owner}@example.com`,
  });
  for (let times = 0; times < count; times++) {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        "x-session-id": session,
      },
      // The label of a call is no right either.
      body: JSON.stringify({
        model: "echo",
        user: "zoe@example.com",
        messages: [{ role: "user", content: "hi" }],
      }),
    });
    expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
  }
}

beforeAll(async () => {
  gateway = await wiredGateway({ chat: NOWHERE, messages: NOWHERE });
  await gateway.admin("PUT", "/teams/alpha", {});
  await gateway.admin("PUT", "/teams/beta", {});
  await gateway.admin("PUT", "/teams/gamma", {});
  for (const [name, person] of Object.entries(PEOPLE)) {
    await gateway.admin("POST", "/people", { email: `${name}@example.com`, ...person });
    browsers[name as Name] = await signIn(gateway, `${name}@example.com`);
  }
  await calls("bob", "task", 4);
  await calls("eve", "task", 1);
  await gateway.records("task", 5);
  await gateway.sql`insert into repositories (id, full_name, former_names, changed_at, is_private)
    values (${REPOSITORY}, 'acme/secret', '[]', now(), true)`;
  await gateway.sql`
    insert into pull_requests (repository_id, number, state, opened_at, merged_at, link, session, session_ids,
      reverts_by_body, reverts_by_sha, evidence, author_login)
    values (${REPOSITORY}, 1, 'merged', now(), now(), 'joined', 'task', array['task'], '[]', array[]::text[],
      ${JSON.stringify([{ deliveryId: "d-1", rule: "body_stamp", sessionIds: ["task"], diagnostics: [], at: "2026-11-02T12:00:00.000Z" }])}::text::jsonb,
      'ann-at-github')`;
});

const read = async (name: Name) => {
  const one = await browsers[name].send("GET", `/admin/v1/pull-requests/${REPOSITORY}-1`);
  const list = await browsers[name].send("GET", "/admin/v1/pull-requests");
  const [row] = (await list.json()).data;
  const page = await one.json();
  if (one.status !== 200) return { status: one.status, row };
  expect(row).toEqual(Object.fromEntries(Object.keys(row).map((name) => [name, page[name]])));
  return page;
};

describe("a pull request of a private repository", () => {
  test.each<Name>(["ann", "bob", "may", "max", "root"])("is whole for %p", async (name) => {
    expect(await read(name)).toMatchObject({
      whole: true,
      session_requests: 5,
      author: "ann-at-github",
      session_owners: ["bob@example.com", "eve@example.com"],
      evidence: [{ delivery_id: "d-1" }],
    });
  });

  test.each<Name>(["eve", "mia"])("is the own part for %p, of whose calls it has one", async (name) => {
    const whole = await read("root");
    const part = await read(name);
    expect(part).toMatchObject({
      whole: false,
      session_requests: 1,
      ...{ author: null, session_owners: [], evidence: [], findings: [], remedy: null },
    });
    expect(Number(part.session_cost_usd)).toBeCloseTo(Number(whole.session_cost_usd) / 5, 12);
    const text = JSON.stringify(part);
    for (const foreign of ["bob@example.com", "ann-at-github"]) expect(text).not.toContain(foreign);
    // No filter says what the row hides.
    for (const [filter, found] of [
      ["author=ann-at-github", 0],
      ["team=alpha", 0],
      ["team=beta", 0],
      ["team=gamma", 1],
    ] as const) {
      const filtered = await browsers[name].send("GET", `/admin/v1/pull-requests?${filter}`);
      expect([filter, (await filtered.json()).data.length]).toEqual([filter, found]);
    }
  });

  test("does not exist for one who made no call, whatever label calls carry", async () => {
    expect(await read("zoe")).toEqual({ status: 404, row: undefined });
  });

  test("stays so when only sums of its calls are left", async () => {
    const before = await Promise.all((["bob", "eve", "zoe"] as const).map(read));
    const later = new Date(Date.now() + 40 * 86_400_000);
    const rollups = openRollups({ url: gateway.databaseUrl });
    await rollups.catchUp(later);
    await rollups.close();
    await until(async () => (await dropOldMonths(gateway.databaseUrl, later)).length > 0);
    expect(await gateway.sql`select from requests`).toHaveLength(0);
    const facts = ({ whole, session_requests: requests, status }: Awaited<ReturnType<typeof read>>) => [
      whole,
      requests,
      status,
    ];
    const after = await Promise.all((["bob", "eve", "zoe"] as const).map(read));
    expect(after.map(facts)).toEqual(before.map(facts));
  });

  test("shows its author from outside nothing of a session that it only claims, before the merge and after", async () => {
    await gateway.sql`update repositories set is_private = false`;
    for (const [state, link] of [
      ["open", "open"],
      ["merged", "claimed"],
    ] as const) {
      await gateway.sql`update pull_requests set state = ${state}, link = ${link}, from_fork = true,
        author_association = 'CONTRIBUTOR', merged_at = case when ${state} = 'merged' then now() end`;
      expect(await read("ann")).toMatchObject({ whole: false, session_requests: 0, session_owners: [] });
      expect(await read("bob")).toMatchObject({ whole: true, session_requests: 5 });
    }
  });

  test("without a session is no claim: its author from outside sees it whole, and its text says nothing of a session", async () => {
    await gateway.sql`update pull_requests set state = 'open', link = 'open', merged_at = null, session = null,
      session_ids = array[]::text[], from_fork = true, author_association = 'NONE'`;
    const page = await read("ann");
    expect(page).toMatchObject({ whole: true, findings: [], session_cost_is_lower_bound: false });
  });
});
