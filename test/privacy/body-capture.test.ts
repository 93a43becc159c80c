import { beforeAll, describe, expect, test } from "bun:test";
import { openDatabase } from "#drizzle/database.ts";
import { deleteExpiredBodies } from "#gateway/stores/bodies.ts";
import { newId } from "#shared/ids.ts";
import { dumpOf, filesBelow, found } from "#test/support/canaries.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const ASKED = "canary-asked-4d1f88a2c35b907e";
const ANSWERED = "canary-answered-91c7e0b52ad3468f";
const canaries = [
  { name: "asked", text: ASKED },
  { name: "answered", text: ANSWERED },
];

let upstream: ScriptedUpstream;
let gateway: WiredGateway;

beforeAll(async () => {
  upstream = await scriptedUpstream(({ body }, reply) => {
    const choice = {
      index: 0,
      delta: { content: ANSWERED },
      message: { role: "assistant", content: ANSWERED },
    };
    const answer = { id: "c", choices: [choice], usage: { prompt_tokens: 1, completion_tokens: 1 } };
    if (!body.includes('"stream":true')) return reply.json(answer);
    reply.head("text/event-stream");
    reply.chunk(`data: ${JSON.stringify(answer)}\n\n`);
    reply.chunk("data: [DONE]\n\n");
    reply.end();
  });
  gateway = await wiredGateway(
    { chat: `${upstream.url}/v1`, messages: upstream.url },
    { LOG_LEVEL: "trace" },
  );
});

async function call(body: object = {}) {
  const session = newId();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.secret}`, "x-session-id": session },
    body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: ASKED }], ...body }),
  });
  const text = await answer.text();
  await gateway.records(session);
  const [row] = await gateway.sql<{ id: string }[]>`select id from requests where session = ${session}`;
  return { text, capture: answer.headers.get("x-gateway-body-capture"), id: row?.id ?? "" };
}

const admin = (path: string, key = ADMIN_KEY) =>
  fetch(`${gateway.url}/admin/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
const capture = (on: boolean) => gateway.admin("PATCH", "/routes/chat", { body_capture: on });
const kept = async (id: string) => {
  const rows = await gateway.sql`select 1 from captured_bodies where request_id = ${id}`;
  return rows.length === 1;
};
const audited = async () =>
  (await (await admin("/audit")).json()).data as { action: string; subject: string; actor: string }[];

async function places(): Promise<Record<string, string[]>> {
  const written = [...(await dumpOf(gateway.sql)), ...filesBelow(gateway.dataDir)];
  const hits = written.map(([place, bytes]) => [place, found(canaries, bytes)] as const);
  return Object.fromEntries(hits.filter(([, names]) => names.length > 0));
}

describe("body capture", () => {
  test("is off: nothing that was asked or answered is written anywhere", async () => {
    const { id, capture: header } = await call();
    await call({ stream: true });
    expect(header).toBeNull();
    expect(await kept(id)).toBe(false);
    expect((await admin(`/requests/${id}/body`)).status).toBe(404);
    expect(await gateway.sql`select 1 from captured_bodies`).toHaveLength(0);
    expect(await places()).toEqual({});
  });

  test.each([false, true])("of a route keeps both texts, encrypted (streamed: %p)", async (stream) => {
    await capture(true);
    const { id, text, capture: header } = await call(stream ? { stream } : {});
    expect(header).toBe("on");
    await until(() => kept(id));
    expect(await places()).toEqual({});
    const body = await (await admin(`/requests/${id}/body`)).json();
    expect(body.request.text).toContain(ASKED);
    expect(body.answer).toEqual({ text, truncated: false });
    expect(text).toContain(ANSWERED);
    const days = (Date.parse(body.expires_at) - Date.parse(body.captured_at)) / 86_400_000;
    expect(days).toBeLessThanOrEqual(7);
  });

  test("is told to whoever lists the models", async () => {
    await capture(true);
    const headers = { authorization: `Bearer ${gateway.secret}` };
    const { data } = await (await fetch(`${gateway.url}/v1/models`, { headers })).json();
    const announced = data.filter((model: { body_capture?: boolean }) => model.body_capture);
    expect(announced.map(({ id }: { id: string }) => id)).toEqual(["chat"]);
  });

  test("is read by administrators only, and who read it is written down", async () => {
    await capture(true);
    const { id } = await call();
    await until(() => kept(id));
    expect((await admin(`/requests/${id}/body`, gateway.secret)).status).toBe(401);
    expect((await audited()).filter(({ subject }) => subject === id)).toEqual([]);
    expect((await admin(`/requests/${id}/body`)).status).toBe(200);
    const [read] = await audited();
    expect(read).toMatchObject({ action: "body.read", subject: id, actor: "admin key" });
  });

  test("switched on and off is written down", async () => {
    await capture(true);
    await capture(false);
    await capture(false);
    await capture(true);
    const switches = (await audited())
      .filter(({ action, subject }) => subject === "chat" && action.startsWith("body_capture."))
      .slice(0, 2);
    expect(switches.map(({ action }) => action)).toEqual(["body_capture.on", "body_capture.off"]);
    const route = { surface: "chat", provider: "echo", model: "echo", body_capture: true };
    await gateway.admin("PUT", "/routes/gone", route);
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    await fetch(`${gateway.url}/admin/v1/routes/gone`, { method: "DELETE", headers });
    expect((await audited())[0]).toMatchObject({ action: "body_capture.off", subject: "gone" });
  });

  test("ends after seven days: what has expired is neither told nor kept", async () => {
    await capture(true);
    const { id } = await call();
    await until(() => kept(id));
    await gateway.sql`update captured_bodies set expires_at = now() where request_id = ${id}`;
    expect((await admin(`/requests/${id}/body`)).status).toBe(404);
    const database = openDatabase(gateway.databaseUrl, { name: "sweep", max: 1, statementTimeoutMs: 5000 });
    await deleteExpiredBodies(database);
    await database.close();
    expect(await kept(id)).toBe(false);
  });

  test("of one request opens for no other", async () => {
    await capture(true);
    const [one, other] = [await call(), await call()];
    await until(() => kept(one.id));
    await until(() => kept(other.id));
    await gateway.sql`
      update captured_bodies set sealed = (select sealed from captured_bodies where request_id = ${one.id})
      where request_id = ${other.id}`;
    expect((await admin(`/requests/${other.id}/body`)).status).toBe(404);
  });
});
