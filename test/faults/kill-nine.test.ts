import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import type { Embedded } from "#drizzle/embedded/supervisor.ts";
import { STATES } from "#drizzle/schema/records.ts";
import { newId } from "#shared/ids.ts";
import { askUntilAnswered, scratch, start } from "#test/support/embedded.ts";
import { casesOf, isFaultRun } from "#test/support/fault-run.ts";
import { figure } from "#test/support/figure.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { postmasterOf } from "#test/support/processes.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { startWorkers } from "#test/support/workers-process.ts";

// Many clients call a gateway that is killed again and again, on a Postgres that is killed now and then. With two
// workers, one of them is killed each time, and the next time the other. Every call has a token of its own, sent as
// session and as message, so that three sets can be compared: the calls whose clients got a complete answer, the calls
// that the provider saw, and the rows.

const CLIENTS = isFaultRun ? 30 : 15;
const GATEWAY_KILLS = isFaultRun ? 10 : 2;
const POSTGRES_KILLED_IN = [1, 5, 8];
const HANG_UP_EVERY = 11;

let gateway: GatewayProcess;
let secret: string;

const USAGE = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

/** The provider: a JSON answer after a few milliseconds, or a stream of eight events and a usage figure. */
async function answer(request: SeenRequest, reply: Reply): Promise<void> {
  const body = JSON.parse(request.body);
  await Bun.sleep(2 + Math.random() * 20);
  if (body.stream !== true) {
    const message = { role: "assistant", content: "done" };
    reply.json({
      id: "c",
      object: "chat.completion",
      model: "m-1",
      choices: [{ index: 0, message }],
      usage: USAGE,
    });
    return;
  }
  reply.head("text/event-stream");
  const event = (choices: object[], rest = {}) =>
    reply.chunk(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m-1", choices, ...rest })}\n\n`,
    );
  for (let n = 0; n < 8 && !reply.gone(); n++) {
    event([{ index: 0, delta: { content: "word " } }]);
    await Bun.sleep(Math.random() * 12);
  }
  event([{ index: 0, delta: {}, finish_reason: "stop" }]);
  event([], { usage: USAGE });
  reply.chunk("data: [DONE]\n\n");
  reply.end();
}

/** Sends one call; whether its client got all of the answer. */
async function call(token: string, streamed: boolean, hangUp: boolean): Promise<boolean> {
  const leaving = new AbortController();
  try {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        "x-session-id": token,
      },
      body: JSON.stringify({
        model: "scripted",
        stream: streamed,
        messages: [{ role: "user", content: token }],
      }),
      signal: leaving.signal,
    });
    if (hangUp) {
      await response.body?.getReader().read();
      leaving.abort();
      return false;
    }
    const text = await response.text();
    return (
      response.status === 200 &&
      (streamed ? text.endsWith("data: [DONE]\n\n") : JSON.parse(text).usage !== null)
    );
  } catch {
    // The gateway is dead or dying: no answer.
    return false;
  }
}

/** Calls until told to stop; adds the tokens of answered calls to `answered`. */
async function client(number: number, running: () => boolean, answered: string[]): Promise<void> {
  for (let n = 0; running(); n++) {
    const token = newId();
    const complete = await call(token, (number + n) % 2 === 0, n % HANG_UP_EVERY === HANG_UP_EVERY - 1);
    if (complete) answered.push(token);
    else await Bun.sleep(20 + Math.random() * 30);
  }
}

const GATEWAYS = [
  ["one process", (dataDir: string, databaseUrl: string) => startGateway({ dataDir, databaseUrl })],
  ["two workers", (dataDir: string, databaseUrl: string) => startWorkers(2, { dataDir, databaseUrl })],
] as const;

describe.each(casesOf(GATEWAYS))("a gateway of %s", (_, startIt) => {
  const place = scratch();
  let embedded: Embedded;
  let upstream: ScriptedUpstream;
  let sql: postgres.Sql;

  beforeAll(async () => {
    embedded = await start(join(place.path, "postgres"));
    upstream = await scriptedUpstream(answer);
    gateway = await startIt(join(place.path, "gateway"), embedded.url);
    sql = connect(embedded.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    await gateway.admin("PUT", "/providers/scripted", {
      kind: "openai-compatible",
      base_url: `${upstream.url}/v1`,
      credential: "scripted",
      allow_private_network: true,
      enabled: true,
    });
    await gateway.admin("PUT", "/routes/scripted", { surface: "chat", provider: "scripted", model: "m-1" });
    await gateway.admin("POST", "/prices", {
      model: "m-1",
      effective_from: "2020-01-01",
      input: "1",
      output: "2",
    });
    ({ secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "clients" }));
  });

  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
    await sql.end();
    await embedded.stop();
    place.remove();
  });

  /** Tokens that are in the message of a request that the provider saw. */
  const seenTokens = () => upstream.seen.map(({ body }): string => JSON.parse(body).messages[0].content);

  /** Whether records of both kinds exist: cut off by a kill, and left by the client. A killed Postgres knows of none. */
  const bothWaysOfBreakingOff = () =>
    sql<
      { state: string }[]
    >`select distinct state from requests where state in ('interrupted', 'client_gone')`.then(
      (rows) => rows.length === 2,
      () => false,
    );

  /** Kills the gateway again and again, each time after some more calls were answered. */
  async function killAround(answered: readonly string[]): Promise<void> {
    for (let round = 0; round < GATEWAY_KILLS; round++) {
      const goal = answered.length + 40 + Math.floor(Math.random() * 80);
      await until(() => answered.length >= goal);
      if (POSTGRES_KILLED_IN.includes(round)) {
        process.kill(await postmasterOf(embedded.data), "SIGKILL");
      }
      await gateway.kill();
      await gateway.start();
    }
  }

  test("through kill -9 of gateway and Postgres no answered call is missing, none doubled, and all that a provider saw have ended", async () => {
    const answered: string[] = [];
    let running = true;
    const clients = Array.from({ length: CLIENTS }, (_, number) => client(number, () => running, answered));
    try {
      await killAround(answered);
      await until(bothWaysOfBreakingOff);
    } finally {
      running = false;
      await Promise.all(clients);
    }

    const seen = seenTokens();
    // A server that was killed refuses connections until it has replayed its log.
    await askUntilAnswered(embedded.url, "select 1");
    const missing = async () => {
      const rows = await sql<{ session: string }[]>`select session from requests`;
      const stored = new Set(rows.map(({ session }) => session));
      return seen.filter((token) => !stored.has(token));
    };
    await until(async () => (await missing()).length === 0).catch(() => undefined);

    const rows = await sql<
      { session: string; state: (typeof STATES)[number]; unpriced: boolean; partial: boolean }[]
    >`
    select session, state, unpriced, partial from requests`;
    const bySession = Map.groupBy(rows, ({ session }) => session);
    const states = Object.fromEntries(
      [...Map.groupBy(rows, ({ state }) => state)].map(([k, v]) => [k, v.length]),
    );
    const ends = JSON.stringify(states);
    figure(`${answered.length} answered, ${seen.length} seen by the provider, ${rows.length} rows: ${ends}`);

    expect(answered.filter((token) => !bySession.has(token))).toEqual([]);
    expect(answered.filter((token) => bySession.get(token)?.[0]?.state !== "ok")).toEqual([]);
    expect([...bySession.values()].filter((some) => some.length > 1)).toEqual([]);
    expect(await missing()).toEqual([]);
    expect(new Set(seen).size).toBe(seen.length);
    expect(rows.filter(({ state }) => !STATES.includes(state))).toEqual([]);
    // What was cut off never claims an exact figure.
    expect(rows.filter(({ state, unpriced }) => state === "interrupted" && !unpriced)).toEqual([]);
  });
});
