import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { openDatabase } from "#drizzle/database.ts";
import { createServer } from "#github-app/server.ts";
import type { Delivery } from "#github-app/stores/inbox-store.ts";
import { systemClock } from "#shared/clock.ts";
import { deliver, keptLog, pageDeps, testGithubApp, WEBHOOK_SECRET } from "#test/support/github-app.ts";
import { EXAMPLES, pullRequestPayload, signatureOf } from "#test/support/github-payloads.ts";
import { rawAnswer } from "#test/support/raw-client.ts";

const PREVIOUS = "the secret before that one, still valid";

let running: Awaited<ReturnType<typeof testGithubApp>>;
beforeAll(async () => {
  running = await testGithubApp({ secrets: [WEBHOOK_SECRET, PREVIOUS] });
});
afterAll(() => running.close());

const inboxSize = async () => {
  const [row] = await running.database.sql`select count(*)::int as size from webhook_inbox`;
  return row?.["size"];
};

async function refused(answer: Response | Promise<Response>, status: number, type: string) {
  const it = await answer;
  expect(it.status).toBe(status);
  expect(await it.json()).toEqual({ error: { type, message: expect.any(String) } });
}

describe("202", () => {
  test("once the facts of a delivery are stored, and only those", async () => {
    const deliveryId = randomUUID();
    const answer = await running.deliver("pull_request", pullRequestPayload({ number: 11 }), { deliveryId });
    expect(answer.status).toBe(202);
    const [row] = await running.database.sql`select * from webhook_inbox where delivery_id = ${deliveryId}`;
    expect(row).toMatchObject({ event: "pull_request", action: "opened", failure: null });
    expect(row?.["occurred_at"]).toEqual(new Date("2026-11-01T10:00:00Z"));
    expect(JSON.stringify(row)).not.toContain("Update the README");
    expect(JSON.stringify(row)).not.toContain("Fixes a bug");
  });

  test("for a repetition, which is stored once", async () => {
    const deliveryId = randomUUID();
    const before = await inboxSize();
    for (let times = 0; times < 3; times++) {
      const answer = await running.deliver("pull_request", pullRequestPayload({ number: 12 }), {
        deliveryId,
      });
      expect(answer.status).toBe(202);
    }
    expect(await inboxSize()).toBe(before + 1);
  });

  test("for a delivery signed with the previous secret, while it is being rotated", async () => {
    const answer = await running.deliver("pull_request", pullRequestPayload(), { secret: PREVIOUS });
    expect(answer.status).toBe(202);
  });

  test("for all other events of the real service, of which nothing is stored", async () => {
    const counted = [
      "pull_request",
      "pull_request_review",
      "installation",
      "installation_repositories",
      "repository",
    ];
    const others = EXAMPLES.filter((it) => !counted.includes(it.event));
    expect(others.length).toBeGreaterThan(250);
    const before = await inboxSize();
    for (const { event, payload } of others) {
      expect((await running.deliver(event, payload)).status).toBe(202);
    }
    expect(await inboxSize()).toBe(before);
  });

  test("for every example of the events that count", async () => {
    for (const { event, payload } of EXAMPLES) {
      if (event.startsWith("pull_request") || event.startsWith("installation") || event === "repository") {
        expect((await running.deliver(event, payload)).status).toBe(202);
      }
    }
  });

  test("for a body with a byte-order mark, because the raw bytes are verified", async () => {
    const body = `\ufeff${JSON.stringify(pullRequestPayload())}`;
    expect((await running.deliver("pull_request", body)).status).toBe(202);
  });
});

describe("stamping switched off", () => {
  test("a verified delivery gets 202 and nothing is stored; switching it on counts from the next one", async () => {
    await running.switchStamping(false);
    const deliveryId = randomUUID();
    const before = await inboxSize();
    const send = () => running.deliver("pull_request", pullRequestPayload({ number: 13 }), { deliveryId });
    expect((await send()).status).toBe(202);
    expect(await inboxSize()).toBe(before);
    await running.switchStamping(true);
    expect((await send()).status).toBe(202);
    expect(await inboxSize()).toBe(before + 1);
  });

  test("is the rule while no administrator has set anything", async () => {
    const fresh = await testGithubApp({ stamping: false });
    expect((await fresh.deliver("pull_request", pullRequestPayload())).status).toBe(202);
    const [row] = await fresh.database.sql`select count(*)::int as size from webhook_inbox`;
    expect(row?.["size"]).toBe(0);
    await fresh.close();
  });
});

describe("401", () => {
  const payload = pullRequestPayload({ number: 666 });
  const raw = JSON.stringify(payload);
  const forged: [name: string, signature: string | undefined][] = [
    ["without a signature", undefined],
    ["with an empty one", ""],
    ["with one of another secret", signatureOf(raw, "another secret of enough length")],
    ["with one of the default that Probot knows", signatureOf(raw, "development")],
    ["with one of another body", signatureOf(`${raw} `, WEBHOOK_SECRET)],
    ["with a shortened one", signatureOf(raw, WEBHOOK_SECRET).slice(0, -2)],
    ["with one in SHA-1 form", `sha1=${"a".repeat(40)}`],
    ["with one of garbage", `sha256=${"z".repeat(64)}`],
  ];
  test.each(forged)("%s, and it has no effect", async (_, signature) => {
    const before = await inboxSize();
    const answer = running.deliver("pull_request", raw, { headers: { "x-hub-signature-256": signature } });
    await refused(answer, 401, "unsigned");
    expect(await inboxSize()).toBe(before);
  });
});

describe("400", () => {
  const bodies = ["", "{", "[]", "null", '"text"', "payload=%7B%7D"];
  test.each(bodies)("for a signed body that is no JSON object: %j", async (body) => {
    await refused(running.deliver("pull_request", body), 400, "malformed");
  });

  test("for a signed body that is no UTF-8", async () => {
    const body = new Uint8Array([0x7b, 0xff, 0x7d]);
    const answer = fetch(`${running.url}/api/github/webhooks`, {
      method: "POST",
      body,
      headers: {
        "x-github-event": "ping",
        "x-github-delivery": randomUUID(),
        "x-hub-signature-256": signatureOf(body, WEBHOOK_SECRET),
      },
    });
    await refused(answer, 400, "malformed");
  });

  const headers: Record<string, string | undefined>[] = [
    { "x-github-event": undefined },
    { "x-github-event": "Pull Request" },
    { "x-github-delivery": undefined },
    { "x-github-delivery": "a b" },
    { "x-github-delivery": "x".repeat(65) },
  ];
  test.each(headers)("for a delivery that does not say what it is: %p", async (it) => {
    await refused(running.deliver("pull_request", pullRequestPayload(), { headers: it }), 400, "malformed");
  });

  test("for an event that counts and lacks what it must have", async () => {
    await refused(running.deliver("pull_request", { action: "opened" }), 400, "malformed");
  });

  test.each(["a\u0000", "\ud800", 7])(
    "for one with what Postgres cannot store, which no redelivery changes: %j",
    async (text) => {
      const [at, login] = ["2026-11-28T01:00:00Z", "acme"];
      const installation = { id: 9, account: { id: 2, login }, created_at: at, updated_at: at };
      for (const permissions of [{ checks: text }, { [`-${text}`]: "read" }]) {
        const payload = { action: "created", installation: { ...installation, permissions } };
        await refused(running.deliver("installation", payload), 400, "malformed");
      }
    },
  );
});

describe("413", () => {
  const MIB = 1024 * 1024;
  const filled = (bytes: number) => {
    const empty = JSON.stringify({ zen: "" });
    return JSON.stringify({ zen: "x".repeat(bytes - empty.length) });
  };

  test("for a body over 25 MiB, signed or not; one of 25 MiB is taken", async () => {
    expect((await running.deliver("ping", filled(25 * MIB))).status).toBe(202);
    await refused(running.deliver("ping", filled(25 * MIB + 1)), 413, "too_large");
  });

  test("for one that does not announce its length", async () => {
    const body = new TextEncoder().encode(filled(25 * MIB + 1));
    const answer = await fetch(`${running.url}/api/github/webhooks`, {
      method: "POST",
      body: new ReadableStream({
        start: (controller) => {
          for (let at = 0; at < body.length; at += MIB) controller.enqueue(body.subarray(at, at + MIB));
          controller.close();
        },
      }),
      headers: {
        "x-github-event": "ping",
        "x-github-delivery": randomUUID(),
        "x-hub-signature-256": signatureOf(body, WEBHOOK_SECRET),
      },
    });
    expect(answer.status).toBe(413);
  });
});

function unstorable(store: (delivery: Delivery) => Promise<"stored">, secrets = [WEBHOOK_SECRET]) {
  const { log, lines } = keptLog();
  // Nothing here reaches for it.
  const database = openDatabase("postgres://nobody@127.0.0.1:9/none", {
    name: "test",
    max: 1,
    statementTimeoutMs: 1000,
  });
  const server = createServer({
    ...pageDeps(database, log),
    secrets: () => secrets,
    store,
    stored: () => undefined,
    clock: systemClock,
    ping: () => Promise.reject(new Error("away")),
  }).listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${server.server?.port}`;
  return { url, lines, stop: () => server.stop(true) };
}

describe("503", () => {
  test("when the facts cannot be stored, with retry-after; the failure's text is not logged", async () => {
    const it = unstorable(() =>
      Promise.reject(Object.assign(new Error("CANARY in a message"), { code: "08006" })),
    );
    const answer = await deliver(`${it.url}/api/github/webhooks`, "pull_request", pullRequestPayload());
    expect(answer.headers.get("retry-after")).toBe("30");
    await refused(answer, 503, "unavailable");
    expect(it.lines.join("\n")).toContain("08006");
    expect(it.lines.join("\n")).not.toContain("CANARY");
    await it.stop();
  });

  test("but events that do not count are accepted without a database", async () => {
    const it = unstorable(() => Promise.reject(new Error("away")));
    expect(
      (await deliver(`${it.url}/api/github/webhooks`, "ping", { zen: "Keep it logically awesome." })).status,
    ).toBe(202);
    expect((await fetch(`${it.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${it.url}/healthz`)).status).toBe(200);
    await it.stop();
  });
});

describe("without a webhook secret", () => {
  test("the webhook path answers 404 and the page at / says how to configure", async () => {
    const it = unstorable(() => Promise.resolve("stored"), []);
    await refused(
      deliver(`${it.url}/api/github/webhooks`, "pull_request", pullRequestPayload()),
      404,
      "unconfigured",
    );
    const page = await fetch(`${it.url}/`);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const html = await page.text();
    expect(html).toContain("not configured");
    expect(html).toContain("WEBHOOK_SECRET");
    expect(html).toContain("/api/github/webhooks");
    await it.stop();
  });

  test("a secret that signs with nothing does not help", async () => {
    const it = unstorable(() => Promise.resolve("stored"), []);
    const answer = deliver(`${it.url}/api/github/webhooks`, "pull_request", pullRequestPayload(), {
      secret: "development",
    });
    await refused(answer, 404, "unconfigured");
    await it.stop();
  });
});

describe("other addresses", () => {
  test("a page, two probes, and nothing else", async () => {
    expect(await (await fetch(`${running.url}/`)).text()).toContain("receive-only");
    for (const [path, status] of Object.entries({
      "/healthz": 200,
      "/readyz": 200,
      "/metrics": 401,
      "/setup": 404,
    })) {
      const answer = await fetch(`${running.url}${path}`);
      expect([path, answer.status, answer.headers.get("cache-control")]).toEqual([path, status, "no-store"]);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
    await refused(fetch(`${running.url}/api/github/webhooks`), 404, "not_found");
    await refused(fetch(`${running.url}/probot`), 404, "not_found");
  });

  test.each(["/x\\..\\setup", "/api\\github\\webhooks", "/setup\\new", "/%2e%2e/setup", "//healthz"])(
    "%s, which a proxy may have read as another path, reaches no handler",
    async (target) => {
      const request = `GET ${target} HTTP/1.1\r\nhost: gateway.example\r\nconnection: close\r\n\r\n`;
      const answer = await rawAnswer(running.url, request);
      expect([answer.status, answer.body.toString()]).toEqual([400, expect.stringContaining("ambiguous")]);
    },
  );
});
