import { beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { type Reply, type SeenRequest, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let gateway: WiredGateway;
let seen: SeenRequest[];
let other: string;

const response = (id: string) => ({
  id,
  object: "response",
  status: "completed",
  model: "gpt-5",
  store: true,
  output: [
    {
      type: "message",
      id: "m",
      role: "assistant",
      content: [{ type: "output_text", text: "ok", annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});
/** What a call of the vendor's tools answers: the ids of its items and containers end in `end`. */
const ranTools = (end: string, container = `cntr_${end}`) => ({
  ...response(`resp_${end}`),
  output: [
    { type: "reasoning", id: `rs_${end}`, summary: [] },
    { type: "code_interpreter_call", id: `ci_${end}`, status: "completed", container_id: container },
    {
      type: "shell_call",
      id: `sh_${end}`,
      call_id: "call_1",
      environment: { type: "container_reference", container_id: `cntr_shell_${end}` },
    },
    { ...response("").output[0], id: `msg_${end}` },
  ],
});
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-x",
  content: [{ type: "text", text: "ok" }],
  stop_reason: "end_turn",
  container: { id: "container_first", expires_at: "2030-01-01T00:00:00Z" },
  usage: { input_tokens: 1, output_tokens: 1 },
};

beforeAll(async () => {
  const upstream = await scriptedUpstream(({ method, path, body }: SeenRequest, reply: Reply) => {
    if (path === "/v1/files") {
      return reply.json({
        id: "file-first",
        object: "file",
        bytes: 2,
        filename: "a.jsonl",
        purpose: "batch",
      });
    }
    if (path === "/v1/messages") return reply.json(message);
    if (path.startsWith("/v1/responses/")) {
      const id = path.split(/[/?]/)[3] ?? "";
      if (method === "DELETE") return reply.json({ id, object: "response", deleted: true });
      if (path.includes("/input_items")) return reply.json({ object: "list", data: [], has_more: false });
      return reply.json(response(id));
    }
    const asked = /"input":"run (\w+)(?: in (\w+))?"/.exec(body);
    if (asked) return answerOfTools(body, reply, ranTools(asked[1] ?? "", asked[2]));
    if (!body.includes('"stream":true')) return reply.json(response("resp_first"));
    reply.head("text/event-stream");
    const event = { type: "response.completed", sequence_number: 0, response: response("resp_streamed") };
    reply.chunk(`event: response.completed\ndata: ${JSON.stringify(event)}\n\n`);
    reply.end();
  });
  seen = upstream.seen;
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  other = (await gateway.admin<{ secret: string }>("POST", "/keys", { name: "other" })).secret;
});

async function answerOfTools(body: string, reply: Reply, made: ReturnType<typeof ranTools>): Promise<void> {
  const answer = { ...made, store: !body.includes('"store":false') };
  if (!body.includes('"stream":true')) return reply.json(answer);
  const send = (type: string, members: object) =>
    reply.chunk(`event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`);
  reply.head("text/event-stream");
  send("response.created", { response: { ...answer, status: "in_progress", output: [] } });
  send("response.output_item.added", { output_index: 1, item: answer.output[1] });
  send("response.code_interpreter_call_code.delta", { output_index: 1, delta: "1" });
  if (!body.includes('"user":"cut"')) send("response.completed", { response: answer });
  reply.end();
}

const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });

const send = async (path: string, key: string, body: object | string, session = "references") => {
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "x-session-id": session },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
};

test("another key's response is 404 and does not reach the vendor; its own key and unknown ids pass", async () => {
  const own = clientOf(gateway.secret);
  await own.responses.create({ model: "chat", input: "hello" }, { headers: { "x-session-id": "first" } });
  const stream = await own.responses.create(
    { model: "chat", input: "hello", stream: true },
    { headers: { "x-session-id": "first" } },
  );
  for await (const _ of stream);
  await gateway.records("first", 2);

  for (const id of ["resp_first", "resp_streamed"]) {
    const refer = { model: "chat", input: "and then?", previous_response_id: id };
    const sent = seen.length;
    const foreign = await clientOf(other)
      .responses.create(refer)
      .catch((error) => error);
    expect([foreign.status, seen.length]).toEqual([404, sent]);
    expect((await own.responses.create(refer)).id).toBe("resp_first");
  }
  const unknown = { model: "chat", input: "x", previous_response_id: "resp_made_elsewhere" };
  expect((await clientOf(other).responses.create(unknown)).id).toBe("resp_first");
});

test("a response belongs to its key as soon as it is answered", async () => {
  for (const id of ["soon1", "soon2", "soon3"]) {
    await send("/v1/responses", gateway.secret, { model: "chat", input: `run ${id}` }, "soon");
    const refer = { model: "chat", input: "and then?", previous_response_id: `resp_${id}` };
    expect((await send("/v1/responses", other, refer)).status).toBe(404);
    await send("/v1/responses", gateway.secret, { model: "chat", input: `run read_${id}` }, "soon");
    const sent = seen.length;
    const read = await clientOf(other)
      .responses.retrieve(`resp_read_${id}`)
      .catch((error) => error);
    expect([read.status, seen.length]).toEqual([404, sent]);
  }
});

test("another key's file is 404, at any depth and in any spelling", async () => {
  const own = clientOf(gateway.secret);
  const line =
    '{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-5","messages":[]}}\n';
  const file = await own.files.create({ file: await toFile(Buffer.from(line), "a.jsonl"), purpose: "batch" });
  expect(file.id).toBe("file-first");
  const content = [{ type: "input_file", file_id: file.id }];
  const body = { model: "chat", input: [{ role: "user", content }] };
  const written = (member: string) => JSON.stringify(body).replace('"file_id":"file-first"', member);
  for (const sent of [
    JSON.stringify(body),
    written('"file\\u005fid":"file-first"'),
    written('"File_ID":"file-first"'),
    written('"f\u0130le_id":"file-first"'),
    written('"f\\u0131le_id":"file-first"'),
    written('"file_id":"file-first","file_id":"file-nobodys"'),
    written('"file_id":"file-nobodys","file_id":"file-first"'),
    written('"FILE_IDS":["file-nobodys","file-first"]'),
  ]) {
    expect((await send("/v1/responses", other, sent)).status).toBe(404);
    expect((await send("/v1/responses", gateway.secret, sent)).status).toBe(200);
  }
});

test("another key's container is 404", async () => {
  const body = { model: "claude", max_tokens: 1, messages: [{ role: "user", content: "hi" }] };
  expect((await send("/v1/messages", gateway.secret, body, "container")).status).toBe(200);
  await gateway.records("container");
  const again = { ...body, container: "container_first" };
  const refused = await send("/v1/messages", other, again);
  expect([refused.status, JSON.parse(refused.text).error.type]).toEqual([404, "not_found_error"]);
  expect((await send("/v1/messages", gateway.secret, again)).status).toBe(200);
  expect((await send("/v1/messages", other, { ...body, container: { id: "container_first" } })).status).toBe(
    404,
  );
  for (const container of [
    '{"id":"x","id":"container_first"}',
    '{"id":"container_first","id":"x"}',
    '{"ID":"container_first"}',
  ]) {
    const text = JSON.stringify(body).replace("{", `{"container":${container},`);
    expect((await send("/v1/messages", other, text)).status).toBe(400);
  }
});

test("a batch whose requests name what another key made is 404, and nothing reaches the vendor", async () => {
  const content = [{ type: "input_file", file_id: "file-first" }];
  const body = { model: "gpt-5", input: [{ role: "user", content }] };
  const line = JSON.stringify({ custom_id: "a", method: "POST", url: "/v1/responses", body });
  const upload = async (key: string) => {
    const file = await toFile(Buffer.from(`${line}\n`), "a.jsonl");
    return await clientOf(key).files.create({ file, purpose: "batch" });
  };
  const sent = seen.length;
  expect((await upload(other).catch((error) => error)).status).toBe(404);
  const params = {
    model: "claude",
    max_tokens: 1,
    messages: [{ role: "user", content: "hi" }],
    container: "container_first",
  };
  const requests = [{ custom_id: "a", params }];
  expect((await send("/v1/messages/batches", other, { requests })).status).toBe(404);
  expect(seen.slice(sent)).toEqual([]);
  expect((await upload(gateway.secret)).id).toBe("file-first");
});

test("a response is read, listed, cancelled and deleted by its own key alone, at the provider that keeps it", async () => {
  const [own, foreign] = [clientOf(gateway.secret), clientOf(other)];
  expect((await own.responses.retrieve("resp_first")).id).toBe("resp_first");
  expect((await own.responses.inputItems.list("resp_first", { limit: 5 })).data).toEqual([]);
  expect(seen.at(-1)?.path).toBe("/v1/responses/resp_first/input_items?limit=5");
  expect((await own.responses.cancel("resp_first")).id).toBe("resp_first");
  const sent = seen.length;
  for (const ask of [
    () => foreign.responses.retrieve("resp_first"),
    () => foreign.responses.inputItems.list("resp_first"),
    () => foreign.responses.cancel("resp_first"),
    () => foreign.responses.delete("resp_first"),
    () => own.responses.retrieve("resp_no/slash"),
  ]) {
    expect((await Promise.resolve(ask()).catch((error) => error)).status).toBe(404);
  }
  expect(seen.length).toBe(sent);
  await own.responses.delete("resp_first");
  expect(seen.at(-1)).toMatchObject({ method: "DELETE", path: "/v1/responses/resp_first" });
  const { status } = await fetch(`${gateway.url}/v1/responses/resp_first?api_key=x`, {
    headers: { authorization: `Bearer ${gateway.secret}` },
  });
  expect(status).toBe(400);
});

/** Has the suite's key make what `run …` answers, and waits until that is stored. */
const make = async (input: string, members: object = {}) => {
  const session = input.replaceAll(" ", "-");
  const made = await send("/v1/responses", gateway.secret, { model: "chat", input, ...members }, session);
  expect(made.status).toBe(200);
  await gateway.records(session);
};

/** Each body is 404 for the other key, which the vendor does not see, and passes for the key that made what it names. */
const expectOwnOnly = async (bodies: readonly (object | string)[]) => {
  for (const body of bodies) {
    const sent = seen.length;
    const refused = await send("/v1/responses", other, body);
    expect([body, refused.status, seen.length]).toEqual([body, 404, sent]);
    expect(JSON.parse(refused.text).error).toMatchObject({ type: "not_found_error", code: "not_found" });
    expect([body, (await send("/v1/responses", gateway.secret, body)).status]).toEqual([body, 200]);
  }
};

const call = (members: object) => ({ model: "chat", input: "go on", ...members });

test("another key's container is 404, wherever a response's call names it, and in any spelling", async () => {
  await make("run plain");
  await make("run streamed", { stream: true });
  await make("run unstored", { store: false });
  for (const end of ["plain", "streamed", "unstored"]) {
    const shell = { type: "container_reference", container_id: `cntr_shell_${end}` };
    await expectOwnOnly([
      call({ tools: [{ type: "code_interpreter", container: `cntr_${end}` }] }),
      call({ tools: [{ type: "shell", environment: shell }] }),
      call({ input: [{ type: "code_interpreter_call", code: "1", container_id: `cntr_${end}` }] }),
    ]);
  }
  const cited = { type: "container_file_citation", container_id: "cntr_plain" };
  const content = [{ type: "output_text", text: "x", annotations: [cited] }];
  const written = (member: string) =>
    JSON.stringify(call({ tools: [{ type: "code_interpreter" }] })).replace('"type"', `${member},"type"`);
  await expectOwnOnly([
    call({ input: [{ role: "assistant", content }] }),
    written('"Container":"cntr_plain"'),
    written('"conta\u0131ner" : "cntr_plain"'),
    written('"\\u0063ontainer":"cntr_plain"'),
    written(`"container"${" ".repeat(70_000)}:"cntr_plain"`),
    written('"container":"cntr_nobodys","container":"cntr_plain"'),
    written('"environment":{"CONTAINER_ID":"cntr_plain"}'),
    written('"environment":{"container_\u0130d":"cntr_plain"}'),
  ]);
  for (const container of ["cntr_made_elsewhere", { type: "auto" }]) {
    const body = call({ tools: [{ type: "code_interpreter", container }] });
    expect((await send("/v1/responses", other, body)).status).toBe(200);
  }
});

test("a container that was made elsewhere belongs to no key that names it", async () => {
  const container = "cntr_shared";
  const tools = [{ type: "code_interpreter", container }];
  await make(`run named in ${container}`, { tools });
  expect((await send("/v1/responses", other, call({ tools }))).status).toBe(200);
});

test("another key's item is 404 where a call refers to it; whole items and unknown ids pass", async () => {
  await make("run items");
  await make("run flow", { stream: true });
  await make("run private", { store: false });
  const input = (...items: object[]) => call({ input: [{ role: "user", content: "hi" }, ...items] });
  for (const end of ["items", "flow"]) {
    await expectOwnOnly([
      input({ type: "item_reference", id: `msg_${end}` }),
      input({ type: null, id: `rs_${end}` }),
      input({ id: `ci_${end}` }),
      input({ id: "msg_made_elsewhere" }, { id: `sh_${end}` }),
      input({ type: "reasoning", id: `rs_${end}`, summary: [], encrypted_content: null }),
    ]);
  }
  const written = (item: string) => JSON.stringify(input({ x: 1 })).replace('{"x":1}', item);
  await expectOwnOnly([
    written('{"Id":"msg_items","type":"item_reference"}'),
    written('{"\\u0069d":"msg_items"}'),
    written('{"\u0131d":"msg_items"}'),
    written('{"id":"msg_nobodys","id":"msg_items"}'),
    written('{"id":"msg_items","type":"message","type":"item_reference","role":"user","content":"x"}'),
    written('{"id":"msg_items","type":"Item_Reference","role":"user","content":"x"}'),
    written('{"id":"rs_items","type":"reasoning","Encrypted_Content":"x"}'),
    written('{"id":"msg_items","type":"message","role":"user","content":"x","content":null}'),
    written('{"id":"msg_items","type":"message","role":"user","content":[ ]}'),
  ]);
  for (const item of [
    { type: "message", id: "msg_items", role: "assistant", content: [{ type: "output_text", text: "x" }] },
    { type: "reasoning", id: "rs_items", summary: [], encrypted_content: "x" },
    { type: "item_reference", id: "msg_made_elsewhere" },
    { type: "item_reference", id: "msg_private" },
  ]) {
    expect([item, (await send("/v1/responses", other, input(item))).status]).toEqual([item, 200]);
  }
});

test("what answers named to two keys belongs to both", async () => {
  await make("run twice");
  expect((await send("/v1/responses", other, call({ input: "run twice" }), "twice")).status).toBe(200);
  await gateway.records("twice");
  const body = call({
    previous_response_id: "resp_twice",
    input: [{ type: "item_reference", id: "msg_twice" }],
  });
  for (const key of [gateway.secret, other]) {
    expect((await send("/v1/responses", key, body)).status).toBe(200);
  }
});

test("what a stream names before it breaks belongs to its key, too", async () => {
  const body = { model: "chat", input: "run broken", stream: true, user: "cut" };
  await send("/v1/responses", gateway.secret, body, "broken").catch(() => null);
  await gateway.records("broken");
  const named = call({ tools: [{ type: "code_interpreter", container: "cntr_broken" }] });
  await expectOwnOnly([named, call({ input: [{ id: "ci_broken" }] })]);
});

test("no other id beside it keeps another key's from being found", async () => {
  const junk = (count: number) => Array.from({ length: count }, (_, n) => `nobodys-${n}`);
  const beside = (...ids: string[]) => call({ metadata: { file_ids: [...ids, "file-first"] } });
  const sent = seen.length;
  // Postgres stores no NUL, and a statement of it has at most 65,535 parameters.
  for (const [body, status] of [
    [beside("\0"), 400],
    [{ ...beside("\0"), previous_response_id: "resp_first" }, 400],
    [beside(...junk(9000)), 404],
    [beside(...junk(70_000)), 400],
    [call({ input: [...junk(9000), "msg_items"].map((id) => ({ id })) }), 404],
    [call({ input: [...junk(70_000), "msg_items"].map((id) => ({ id })) }), 400],
  ] as const) {
    expect((await send("/v1/responses", other, body)).status).toBe(status);
  }
  expect(seen.length).toBe(sent);
  expect((await send("/v1/responses", gateway.secret, beside(...junk(9000)))).status).toBe(200);
});
