import { beforeAll, describe, expect, test } from "bun:test";
import { formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Whose calls a link brings to a pull request, and who may declare one for another person's task.

const REPOSITORY = 4711;
let gateway: WiredGateway;
const secrets: Record<string, string> = {};
let pulls = 0;

beforeAll(async () => {
  gateway = await wiredGateway({ chat: "http://127.0.0.1:9", messages: "http://127.0.0.1:9" });
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: true });
  for (const name of ["ann", "bob", "eve"]) {
    const body = { name, owner: `${name}@example.com` };
    secrets[name] = (await gateway.admin<{ secret: string }>("POST", "/keys", body)).secret;
  }
  await gateway.sql`insert into repositories (id, full_name, former_names, changed_at, is_private)
    values (${REPOSITORY}, 'acme/shop', '[]', now(), true)`;
});

const post = (path: string, name: string, body: object, headers = {}, method = "POST") =>
  fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${secrets[name]}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** Calls of a person in a session, all of the same cost. */
async function calls(name: string, session: string, count = 1): Promise<void> {
  const before = (await gateway.sql`select 1 from requests where session = ${session}`).length;
  for (let times = 0; times < count; times++) {
    const body = { model: "echo", messages: [{ role: "user", content: "hello" }] };
    const answer = await post("/v1/chat/completions", name, body, { "x-session-id": session });
    expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
  }
  await gateway.records(session, before + count);
}

const link = async (name: string, body: object) => {
  const answer = await post("/v1/sessions/links", name, body);
  const { counts } = (await answer.json()) as { counts?: boolean };
  return answer.status === 200 ? counts : answer.status;
};

/** A merged pull request that names a session; returns how to read its page. */
async function merged(session: string, author: string | null = null) {
  const number = ++pulls;
  await gateway.sql`
    insert into pull_requests (repository_id, number, state, opened_at, merged_at, link, session, session_ids,
      reverts_by_body, reverts_by_sha, evidence, author_login)
    values (${REPOSITORY}, ${number}, 'merged', now(), now(), 'joined', ${session}, array[${session}], '[]',
      array[]::text[], '[]', ${author})`;
  return async () => {
    type Page = {
      session_requests: number;
      session_cost_is_lower_bound: boolean;
      findings: { code: string; text: string }[];
    };
    const page = await gateway.admin<Page>("GET", `/pull-requests/${REPOSITORY}-${number}`);
    return {
      requests: page.session_requests,
      floor: page.session_cost_is_lower_bound,
      findings: page.findings.map(({ code }) => code).filter((code) => code.includes("link")),
    };
  };
}

describe("a link to another person's session", () => {
  test("brings only the declarer's own calls, and leaves the other person's link alone", async () => {
    await calls("ann", "ann-agent", 3);
    await calls("bob", "ann-agent");
    for (const name of ["ann", "bob"]) await calls(name, `task-of-${name}`);
    const pages = [await merged("task-of-bob"), await merged("task-of-ann")];
    expect(await link("bob", { session: "ann-agent", of: "task-of-bob" })).toBe(true);
    expect(await link("ann", { session: "ann-agent", of: "task-of-ann" })).toBe(true);
    expect(await Promise.all(pages.map((page) => page()))).toEqual([
      { requests: 2, floor: false, findings: ["calls_of_others_in_linked_session"] },
      { requests: 4, floor: false, findings: ["calls_of_others_in_linked_session"] },
    ]);
  });

  test("that was declared before its first call brings nothing", async () => {
    await calls("bob", "early-task");
    const page = await merged("early-task");
    expect(await link("bob", { session: "early-agent", of: "early-task" })).toBe(true);
    await calls("ann", "early-agent", 2);
    expect(await page()).toMatchObject({ requests: 1, floor: false });
    await calls("ann", "early-own");
    expect(await link("ann", { session: "early-agent", of: "early-own" })).toBe(true);
  });
});

describe("a link to another person's task", () => {
  test("is kept and does not count without evidence, even after a call in the task", async () => {
    await calls("ann", "others-task", 2);
    const page = await merged("others-task");
    await calls("bob", "bobs-agent", 5);
    expect(await link("bob", { session: "bobs-agent", of: "others-task", task: "x" })).toBe(false);
    expect(await page()).toEqual({ requests: 2, floor: false, findings: ["link_without_evidence"] });
    await calls("bob", "others-task");
    const body = { session: "bobs-agent", of: "others-task", repository: "acme/shop", branch: "no-such" };
    expect(await link("bob", body)).toBe(false);
    expect(await page()).toMatchObject({ requests: 3, findings: ["link_without_evidence"] });
  });

  test("counts from the moment when its owner declared the same repository and branch", async () => {
    await calls("ann", "common-task");
    const page = await merged("common-task");
    await calls("bob", "common-agent", 2);
    const place = { repository: "Acme/Shop", branch: "common" };
    expect(await link("bob", { session: "common-agent", of: "common-task", ...place })).toBe(false);
    expect(await page()).toMatchObject({ requests: 1, findings: ["link_without_evidence"] });
    expect(await link("ann", { session: "common-task", of: "common-task", ...place })).toBe(false);
    expect(await page()).toEqual({ requests: 3, floor: false, findings: [] });
  });

  test("that has no calls yet counts for whoever linked to it first, not for the first link of all", async () => {
    const [first] = await gateway.sql`select declarer from session_links order by declared_at limit 1`;
    expect(first).toEqual({ declarer: "bob@example.com" });
    await calls("ann", "planned-agent");
    await calls("bob", "planning-agent");
    const place = { of: "planned-task", repository: "acme/shop" };
    expect(await link("ann", { session: "planned-agent", branch: "planned", ...place })).toBe(true);
    expect(await link("bob", { session: "planning-agent", branch: "other", ...place })).toBe(false);
  });

  test("counts for the author of a pull request that names it", async () => {
    await gateway.admin("POST", "/people", { email: "bob@example.com", github_login: "bobby" });
    await calls("ann", "authors-task");
    const page = await merged("authors-task", "Bobby");
    await calls("bob", "authors-agent");
    expect(await link("bob", { session: "authors-agent", of: "authors-task" })).toBe(true);
    expect(await page()).toMatchObject({ requests: 2, findings: [] });
  });

  test("from another clone brings what was linked to the clone's own session", async () => {
    const place = { repository: "acme/shop", branch: "two-clones" };
    await calls("ann", "clone-a");
    await link("ann", { session: "clone-a", of: "clone-a", ...place });
    const page = await merged("clone-a");
    await calls("bob", "clone-b");
    await calls("bob", "agent-b", 2);
    expect(await link("bob", { session: "agent-b", of: "clone-b", ...place })).toBe(true);
    expect(await link("bob", { session: "clone-b", of: "clone-a", ...place })).toBe(true);
    await calls("bob", "agent-c");
    expect(await link("bob", { session: "agent-c", of: "clone-b", ...place })).toBe(true);
    expect(await page()).toEqual({ requests: 5, floor: false, findings: [] });
    // No circle, whoever declares it.
    expect(await link("bob", { session: "clone-a", of: "agent-b", ...place })).toBe(403);
    expect(await link("ann", { session: "clone-a", of: "clone-b", ...place })).toBe(false);
    expect(await page()).toMatchObject({ requests: 5 });
  });

  test("that was never declared leaves a lower bound, if its own session worked on the branch before the merge", async () => {
    const place = { repository: "acme/shop", branch: "silent" };
    await calls("ann", "silent-a");
    await link("ann", { session: "silent-a", of: "silent-a", ...place });
    await calls("bob", "silent-b");
    await link("bob", { session: "silent-b", of: "silent-b", ...place });
    const page = await merged("silent-a");
    expect(await page()).toMatchObject({ requests: 1, floor: true });
    expect(await link("bob", { session: "silent-b", of: "silent-a", ...place })).toBe(true);
    expect(await page()).toEqual({ requests: 2, floor: false, findings: [] });
    // The branch is used again, for another pull request.
    await calls("bob", "silent-c");
    await link("bob", { session: "silent-c", of: "silent-c", ...place });
    expect(await page()).toMatchObject({ requests: 2, floor: false });
  });

  test("in the repository of its pull request, without evidence of the branch, makes it a lower bound", async () => {
    await calls("ann", "unproven-task");
    await calls("bob", "unproven-agent");
    const page = await merged("unproven-task");
    const body = { session: "unproven-agent", of: "unproven-task", repository: "acme/shop", branch: "b" };
    expect(await link("bob", body)).toBe(false);
    expect(await page()).toEqual({ requests: 1, floor: true, findings: ["link_without_evidence"] });
  });

  test("without evidence does not take its session from the declarer's own task", async () => {
    await calls("ann", "squatted");
    await calls("bob", "bobs-own");
    await calls("bob", "bobs-worker");
    expect(await link("bob", { session: "bobs-worker", of: "squatted" })).toBe(false);
    expect(await link("bob", { session: "bobs-worker", of: "bobs-own" })).toBe(true);
  });
});

test("the page and the list show each link with its evidence, and the parts add up to the cost", async () => {
  const place = { repository: "acme/shop", branch: "shown" };
  await calls("ann", "shown-task");
  await calls("bob", "shown-agent", 2);
  await merged("shown-task");
  await link("ann", { session: "shown-task", of: "shown-task", ...place });
  expect(await link("bob", { session: "shown-agent", of: "shown-task", clone: "c0ffee", ...place })).toBe(
    true,
  );
  type Part = { cost_usd: string; requests: number };
  type Shown = { session_cost_usd: string; session_owners: string[] } & Record<
    string,
    (Part & { session?: string })[]
  >;
  const page = await gateway.admin<Shown>("GET", `/pull-requests/${REPOSITORY}-${pulls}`);
  for (const kind of ["sessions", "models", "days"]) {
    const sum = (page[kind] ?? []).reduce((all, it) => plus(all, parseDecimal(it.cost_usd)), ZERO);
    expect([kind, formatDecimal(sum)]).toEqual([kind, page.session_cost_usd]);
  }
  expect(page.session_owners).toEqual(["ann@example.com", "bob@example.com"]);
  expect(page["sessions"]).toMatchObject([
    { session: "shown-agent", declarer: "bob@example.com", requests: 2, link: { ...place, clone: "c0ffee" } },
    { session: "shown-task", declarer: null, requests: 1 },
  ]);
  const list = async (name: string) => {
    const answer = await fetch(`${gateway.url}/v1/sessions/links?of=shown-task`, {
      headers: { authorization: `Bearer ${secrets[name]}` },
    });
    return ((await answer.json()) as { data: object[] }).data;
  };
  const of = { of: "shown-task", ...place };
  expect(await list("ann")).toMatchObject([
    {
      session: "shown-agent",
      ...of,
      declarer: "bob@example.com",
      counts: true,
      clone: "c0ffee",
      removed_at: null,
    },
    { session: "shown-task", ...of, declarer: "ann@example.com", counts: false },
  ]);
  expect(await list("bob")).toMatchObject([{ session: "shown-agent" }]);
  await calls("eve", "eve-own");
  expect(await list("eve")).toEqual([]);
});

test("the owner of either session removes a link for good; others cannot", async () => {
  const place = { repository: "acme/shop", branch: "removal" };
  await calls("ann", "kept-task");
  await calls("bob", "kept-agent", 2);
  const page = await merged("kept-task");
  await link("ann", { session: "kept-task", of: "kept-task", ...place });
  const body = { session: "kept-agent", of: "kept-task", ...place };
  expect(await link("bob", body)).toBe(true);
  const pair = { session: "kept-agent", of: "kept-task" };
  const remove = async (name: string) => (await post("/v1/sessions/links", name, pair, {}, "DELETE")).status;
  expect(await remove("eve")).toBe(404);
  expect(await page()).toMatchObject({ requests: 3 });
  expect(await remove("ann")).toBe(204);
  expect(await page()).toEqual({ requests: 1, floor: false, findings: [] });
  expect(await link("bob", body)).toBe(false);
  expect(await page()).toEqual({ requests: 1, floor: false, findings: [] });
});
