import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SMTPServer } from "smtp-server";
import { type Database, openDatabase } from "#drizzle/database.ts";
import { requests } from "#drizzle/schema/records.ts";
import { type AlertDeps, doAlerts } from "#gateway/alerts/alerts.ts";
import { deliver } from "#gateway/alerts/deliver.ts";
import { createSealer } from "#gateway/stores/seal.ts";
import { createOutboundFetch } from "#gateway/upstream/outbound-fetch.ts";
import { addressGuard } from "#gateway/upstream/ssrf.ts";
import { type Clock, systemClock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { recordAt } from "#test/admin/records.ts";
import { doneVendor, priceCent } from "#test/limits/cent-vendor.ts";
import { callOnce } from "#test/limits/world.ts";
import { seed } from "#test/reports/world.ts";
import { keptLog } from "#test/support/github-app.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Alerts, with real receivers of every protocol on loopback. The model `gpt-cent` costs a cent a call.

const MASTER_KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${Buffer.alloc(24, 3).toString("base64")}`;

type Received = { path: string; headers: Headers; body: string };
const received: Received[] = [];
let status = 204;
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const { pathname: path } = new URL(request.url);
    received.push({ path, headers: request.headers, body: await request.text() });
    return new Response(null, { status: path === "/dead" ? status : 204 });
  },
});
const mails: string[] = [];
const smtp = new SMTPServer({
  disabledCommands: ["STARTTLS"],
  onAuth: ({ username, password }, _, done) =>
    username === "tally" && password === "pass word" ? done(null, { user: "tally" }) : done(new Error("no")),
  onData: (stream, _, done) => {
    let text = "";
    stream.on("data", (part) => {
      text += part;
    });
    stream.on("end", () => {
      mails.push(text);
      done();
    });
  },
});

let gateway: WiredGateway;
let database: Database;
let aheadMs = 0;
const kept = keptLog();
const clock: Clock = {
  now: () => new Date(Date.now() + aheadMs),
  monotonicMs: () => performance.now() + aheadMs,
};
const deps = (): AlertDeps => {
  const guard = addressGuard(clock);
  const sealer = createSealer(MASTER_KEY);
  const reach = createOutboundFetch(guard);
  const directory = { current: () => ({ providers: new Map() }) };
  return { database, sealer, clock, log: kept.log, reach, addressGuard: guard, directory };
};
/** Two gateways at once, each as if it had just started. */
const rounds = () => Promise.all([doAlerts(deps()), doAlerts(deps())]);

const url = (path: string) => `http://127.0.0.1:${receiver.port}${path}`;
const alert = (name: string, to: object, on: string[] = ["threshold"]) =>
  gateway.admin("PUT", `/alerts/${name}`, { on, to: { allow_private_network: true, ...to } });
const at = (path: string) => received.filter((it) => it.path === path);
const cent = (model = "gpt-cent") => callOnce(gateway.url, gateway.secret, { model, maxTokens: 1 });

beforeAll(async () => {
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve));
  const upstream = await doneVendor();
  gateway = await wiredGateway(
    { chat: `${upstream.url}/v1`, messages: upstream.url },
    { MASTER_KEY: MASTER_KEY.toString("base64") },
  );
  database = openDatabase(gateway.databaseUrl, { name: "test", max: 6, statementTimeoutMs: 60_000 });
  await priceCent(gateway, "gpt-cent");
  // Its type leaves out that it listens on TCP.
  const { port } = smtp.server.address() as AddressInfo;
  await alert("hook", { kind: "webhook", url: url("/hook?token=hidden-token"), secret: SECRET }, [
    "threshold",
    "unpriced_model",
  ]);
  await alert("chat", { kind: "slack", url: url("/slack/T0/B0/hidden-path") });
  await alert("card", { kind: "teams", url: url("/teams?sig=hidden-signature") });
  await alert("mail", {
    kind: "email",
    url: `smtp://tally:pass%20word@127.0.0.1:${port}`,
    addresses: ["finance@example.com", "cto@example.com"],
    from: "Tallygate <tallygate@example.com>",
  });
  await alert("dead", { kind: "slack", url: url("/dead") });
});
afterAll(async () => {
  await database.close();
  await receiver.stop(true);
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
});

const isSigned = ({ headers, body }: Received): boolean => {
  const text = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${body}`;
  const signature = createHmac("sha256", Buffer.alloc(24, 3)).update(text).digest("base64");
  return headers.get("webhook-signature") === `v1,${signature}`;
};

test("a test message reaches each kind of receiver, signed where it has a secret; a failure is answered by its class", async () => {
  for (const name of ["hook", "chat", "card", "mail"]) {
    expect(await gateway.admin("POST", `/alerts/${name}/test`)).toEqual({ delivered: true, failure: null });
  }
  status = 503;
  expect(await gateway.admin("POST", "/alerts/dead/test")).toEqual({
    delivered: false,
    failure: "Answer 503",
  });
  const [hook] = at("/hook");
  expect(hook && isSigned(hook)).toBe(true);
  expect(JSON.parse(hook?.body ?? "")).toMatchObject({
    type: "tallygate.alert",
    alert: "hook",
    kind: "test",
  });
  expect(JSON.parse(at("/slack/T0/B0/hidden-path")[0]?.body ?? "").text).toContain("Test of the alert chat");
  const [card] = JSON.parse(at("/teams")[0]?.body ?? "").attachments;
  expect(card.content).toMatchObject({
    type: "AdaptiveCard",
    body: [
      { inlines: [{ text: "Test of the alert card" }] },
      { inlines: ["This alert reaches its receiver."] },
    ],
  });
  // The only blocks whose text is no Markdown: a caller chooses a model's name, which could be a link.
  expect(card.content.body.map(({ type }: { type: string }) => type)).toEqual([
    "RichTextBlock",
    "RichTextBlock",
  ]);
  expect(mails[0]).toContain("To: finance@example.com, cto@example.com");
  expect(mails[0]).toContain("Subject: Test of the alert mail");
});

test("a threshold is reported once by each alert, over gateways and restarts, the highest alone; a dead receiver stops nothing", async () => {
  received.length = mails.length = 0;
  await gateway.admin("POST", "/people", { email: "secret-person@example.com", budget_usd: "0.05" });
  await gateway.admin("PUT", "/budgets/all", {
    on: { kind: "organisation" },
    amount_usd: "0.10",
    mode: "soft",
    thresholds: [10, 20, 50],
  });
  for (let times = 0; times < 2; times += 1) await cent();
  await gateway.admin("GET", "/budgets");
  for (let times = 0; times < 3; times += 1) await rounds();
  const [first, ...more] = at("/hook").map(({ body }) => JSON.parse(body));
  expect(first).toMatchObject({
    kind: "threshold",
    title: "The budget all has reached 20 %",
    facts: { budget: "all", threshold: 20, used_usd: "0.02", amount_usd: "0.1" },
  });
  expect(more).toEqual([]);
  expect([at("/slack/T0/B0/hidden-path"), at("/teams"), mails, at("/dead")].map((it) => it.length)).toEqual([
    1, 1, 1, 1,
  ]);
  // Its next attempt, once it is due, has the same text.
  status = 204;
  aheadMs += 10 * 60_000;
  await rounds();
  const dead = at("/dead");
  expect([dead.length, dead[1]?.body]).toEqual([2, dead[0]?.body]);
  expect(at("/hook")).toHaveLength(1);
  for (let times = 0; times < 3; times += 1) await cent();
  await gateway.admin("GET", "/budgets");
  await rounds();
  await rounds();
  expect(at("/hook").map(({ body }) => JSON.parse(body).facts.threshold)).toEqual([20, 50]);
  expect(at("/hook").every(isSigned)).toBe(true);
});

test("a person's budget is reported without the person's e-mail", async () => {
  received.length = 0;
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", {
    name: "of the person",
    owner: "secret-person@example.com",
  });
  for (let times = 0; times < 3; times += 1)
    await callOnce(gateway.url, secret, { model: "gpt-cent", maxTokens: 1 });
  await gateway.admin("GET", "/budgets");
  await rounds();
  const titles = at("/hook").map(({ body }) => JSON.parse(body).title);
  expect(titles).toContain("A person's budget has reached 50 %");
  expect(JSON.stringify(received)).not.toContain("secret-person");
});

test("a model without a price is reported once by the alerts about it alone", async () => {
  received.length = 0;
  await cent("gpt-nobody-knows");
  await gateway.admin("GET", "/budgets");
  await rounds();
  await rounds();
  expect(at("/hook").map(({ body }) => JSON.parse(body).title)).toEqual([
    "chat-vendor/gpt-nobody-knows has no price",
  ]);
  expect(received).toHaveLength(1);
});

test("addresses and secrets are stored sealed and shown by their ends alone, and internal addresses need a word", async () => {
  const stored = JSON.stringify([
    await gateway.sql`select * from alerts`,
    await gateway.admin("GET", "/alerts"),
    await gateway.admin("GET", "/audit"),
  ]);
  for (const secret of ["hidden-token", "hidden-path", "hidden-signature", "pass%20word", SECRET])
    expect(stored).not.toContain(secret);
  await gateway.admin("PATCH", "/alerts/hook", { enabled: false });
  for (const [to, fault] of [
    [{ kind: "slack", url: url("/x"), allow_private_network: false }, "/to/url: Plain http needs"],
    [
      { kind: "slack", url: "https://10.0.0.1/x", allow_private_network: false },
      "/to/url: A loopback or private",
    ],
    [{ kind: "slack", url: "https://169.254.169.254/x" }, "/to/url: A provider cannot have this address"],
    [{ kind: "webhook", url: url("/x") }, "/to/secret: Expected for webhook"],
    [
      { kind: "email", url: "https://mail.example.com", addresses: ["a@b.c"], from: "x@y.z" },
      "/to/url: Expected an smtps",
    ],
    [{ kind: "email", url: "smtps://mail.example.com", from: "x@y.z" }, "/to/addresses: Expected for email"],
  ] as const) {
    await expect(alert("wrong", to)).rejects.toThrow(fault);
  }
});

test.each([
  ["smtp", false],
  ["smtps", true],
])("mail goes by TLS: %s, with a certificate for the server's name", async (protocol, secure) => {
  const tls = join(import.meta.dir, "../fixtures/tls/model.test");
  const [cert, key] = [readFileSync(`${tls}.cert.pem`), readFileSync(`${tls}.key.pem`)];
  const seen: { secure: boolean; text: string }[] = [];
  const server = new SMTPServer({
    ...{ secure, cert, key, authOptional: true },
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("end", () => {
        seen.push({ secure: session.secure, text: Buffer.concat(parts).toString() });
        done();
      });
    },
  });
  // The client leaves where the certificate is of another name.
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  const script = `
    const { deliver } = await import("${join(import.meta.dir, "../../gateway/alerts/deliver.ts")}");
    const addressGuard = { resolveOrigin: async () => [{ origin: "https://127.0.0.1" }] };
    for (const host of ["model.test", "other.test"]) {
      const to = { kind: "email", url: "${protocol}://" + host + ":${port}", addresses: ["a@example.com"], from: "b@example.com" };
      const content = { kind: "test", title: "To " + host, text: "Hello", facts: {} };
      const sent = deliver({ addressGuard }, to, { id: "1", at: new Date(), alert: "mail", content });
      console.log(await sent.then(() => "taken", (e) => e.code));
    }`;
  const child = Bun.spawn([process.execPath, "-e", script], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: `${tls}.cert.pem` },
    stdout: "pipe",
  });
  const said = (await new Response(child.stdout).text()).trim().split("\n");
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect([said[0], said[1] === "taken"]).toEqual(["taken", false]);
  expect(seen).toEqual([{ secure: true, text: expect.stringContaining("Subject: To model.test") }]);
});

test("mail reaches a server at an IPv6 address, with a password that has a percent sign", async () => {
  const given: unknown[] = [];
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      given.push(username, password);
      done(null, { user: username });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "::1", resolve));
  const { port } = server.server.address() as AddressInfo;
  const guard = addressGuard(systemClock);
  const deps = { reach: createOutboundFetch(guard), addressGuard: guard };
  const to = { kind: "email", url: `smtp://me%40example.com:5%25%of@[::1]:${port}` } as const;
  const receiver = {
    ...to,
    addresses: ["a@example.com"],
    from: "b@example.com",
    allow_private_network: true,
  };
  const content = { kind: "test", title: "To six", text: "Hello", facts: {} } as const;
  await deliver(deps, receiver, { id: "1", at: new Date(), alert: "mail", content });
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect(given).toEqual(["me@example.com", "5%%of"]);
});

describe("what is found besides", () => {
  const titles = async () => {
    received.length = 0;
    await rounds();
    await rounds();
    return at("/found").map(({ body }) => JSON.parse(body).title);
  };
  const daysAgo = (days: number) => new Date(clock.now().getTime() - days * 86_400_000);
  const dayOf = (days: number) => daysAgo(days).toISOString().slice(0, 10);
  const on = (...kinds: string[]) =>
    alert("found", { kind: "webhook", url: url("/found"), secret: SECRET }, kinds);

  test("a budget that will be exceeded, and a day far above its weekday, each once", async () => {
    await gateway.admin("PUT", "/teams/steady", {});
    await gateway.admin("PUT", "/budgets/steady", {
      on: { kind: "team", id: "steady" },
      amount_usd: "1000000",
      period: "quarter",
      mode: "soft",
    });
    // A week before, one call at a dollar a token; then three at two dollars.
    const call = (days: number, usd: number) =>
      recordAt(daysAgo(days).toISOString(), {
        ...{
          provider: "p",
          model: "m",
          teams: ["steady"],
          costUsd: String(usd * 10),
          price: `input 10 ${usd}|list:m`,
        },
        ...{ uncachedInputTokens: 10, inputTokens: 10 },
      });
    await database.db.insert(requests).values([call(8, 1), call(1, 2), call(1, 2), call(1, 2)]);
    await gateway.sql`delete from key_spend where key_id = md5('team steady')::uuid`;
    await gateway.sql`insert into key_spend (key_id, day, usd)
      select md5('team steady')::uuid, day::date, case day::date when ${dayOf(1)}::text::date then 60 else 10 + extract(day from day)::int % 3 end
      from generate_series(${dayOf(90)}::text::date, ${dayOf(1)}::text::date, interval '1 day') day`;
    const { spent_usd: spent, forecast } = await gateway.admin<{
      spent_usd: string;
      forecast: { expected_usd: string };
    }>("GET", "/forecast?budget=steady");
    const between = (Number(spent) + Number(forecast.expected_usd)) / 2;
    await gateway.admin("PATCH", "/budgets/steady", { amount_usd: between.toFixed(2) });
    await on("forecast_overrun", "anomaly");
    const found = await titles();
    expect(found.filter((title) => title.includes("steady")).toSorted()).toEqual([
      "The budget steady will be exceeded",
      expect.stringMatching(/^The team steady cost 5\.\d times the usual on /),
    ]);
    expect(await titles()).toEqual([]);
    const { data } = await gateway.admin<{ data: object[] }>("GET", "/anomalies");
    expect(data).toEqual([
      {
        kind: "team",
        name: "steady",
        day: dayOf(1),
        usd: "60.00",
        usual_usd: expect.stringMatching(/^1[0-2]\.00$/),
        rate_mix_volume: {
          ...{ since: dayOf(8), delta_usd: "50", mix: "0" },
          volume: expect.stringMatching(/^30\.657/),
          rate: expect.stringMatching(/^19\.342/),
        },
      },
    ]);
    // A day is listed also where what moved its cost cannot be read.
    await gateway.sql.begin(async (tx) => {
      await tx`lock table requests in access exclusive mode`;
      const listed = gateway.admin<{ data: object[] }>("GET", "/anomalies");
      let answered = false;
      void listed.finally(() => {
        answered = true;
      });
      // Rounds that run beside it wait for the table, too.
      await until(async () => {
        await tx`select pg_cancel_backend(pid) from pg_locks
          where relation = 'requests'::regclass and not granted and mode = 'AccessShareLock'`;
        return answered;
      });
      expect((await listed).data).toMatchObject([{ name: "steady", rate_mix_volume: null }]);
    });
  });

  test("a provider that fails more than usual, until it has been well for an hour", async () => {
    const record = (minutes: number, facts: object) =>
      recordAt(daysAgo(minutes / 1440).toISOString(), { provider: "shaky", ...facts });
    const failed = { state: "upstream_error", status: 502 } as const;
    await database.db.insert(requests).values([
      ...Array.from({ length: 50 }, () => record(300, {})),
      ...Array.from({ length: 9 }, () => record(5, {})),
      ...Array.from({ length: 5 }, () => record(5, failed)),
      // A caller's own mistakes are no failure of the provider.
      ...Array.from({ length: 30 }, () => record(5, { ...failed, provider: "sound", status: 400 })),
    ]);
    await on("provider_failing");
    expect(await titles()).toEqual(["The provider shaky fails"]);
    aheadMs += 30 * 60_000;
    expect(await titles()).toEqual([]);
    aheadMs += 61 * 60_000;
    expect(await titles()).toEqual([]);
    await database.db.insert(requests).values(Array.from({ length: 12 }, () => record(5, failed)));
    expect(await titles()).toEqual(["The provider shaky fails"]);
  });

  test("a falling share of merges with a session", async () => {
    const merges = (from: number, days: number, link: string) =>
      Array.from({ length: 12 }, (_, number) => ({
        repository: 1,
        number: from + number,
        mergedAt: daysAgo(days).toISOString(),
        link,
        ...(link === "joined" && { session: `s${from + number}` }),
      }));
    await seed(database.sql, DEFAULT_ORG, {
      repositories: [{ id: 1, fullName: "acme/api" }],
      pullRequests: [...merges(1, 20, "joined"), ...merges(100, 3, "no_stamp")],
    });
    await on("stamped_share_falling");
    expect(await titles()).toEqual(["Fewer merged pull requests name their session"]);
  });

  test("a bill of last week that has no reason, and none that has one", async () => {
    for (const [name, category] of [
      ["strange", "usage"],
      ["taxed", "tax"],
    ] as const) {
      await gateway.admin("PUT", `/vendor-accounts/${name}`, { vendor: "other", providers: ["nobody"] });
      const mapping = encodeURIComponent('{"day":"day","amount":"usd","category":"is"}');
      const path = `/vendor-bills/import?account=${name}&format=focus&mapping=${mapping}`;
      await gateway.admin("POST", path, [{ day: dayOf(5), usd: "12.5", is: category }]);
    }
    await on("reconciliation_gap");
    expect(await titles()).toEqual(["The bill of strange is not explained"]);
    expect(JSON.parse(at("/found")[0]?.body ?? "{}")).toMatchObject({
      text: expect.stringMatching(/^100\.00 % of 12\.5 USD/),
      facts: { account: "strange", unexplained_share: 1 },
    });
  });
});
