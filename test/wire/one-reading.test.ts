import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { type FoldingVendor, foldingVendor } from "#test/support/folding-vendor.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

/** A server that folds names and takes the last of several must not be made to run what the key may not. */
let vendor: FoldingVendor;
let gateway: WiredGateway;
/** May use the cheap models and the tool `ok` only. */
let scoped: string;

beforeAll(async () => {
  vendor = foldingVendor();
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  for (const name of ["files", "other"]) {
    await gateway.admin("POST", "/mcp-servers", {
      name,
      url: `${vendor.url}/mcp`,
      credential: "credential-of-a-tool-server",
      allow_private_network: true,
    });
  }
  const scopes = { models: ["gpt-cheap", "claude-cheap"], mcp: ["files__ok"] };
  scoped = (await gateway.admin<{ secret: string }>("POST", "/keys", { name: "scoped", scopes })).secret;
});
beforeEach(() => {
  vendor.ran.length = 0;
});
afterAll(() => gateway.close());

async function post(path: string, body: string | Buffer<ArrayBuffer>, type = "application/json") {
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${scoped}`,
      "content-type": type,
      accept: "application/json, text/event-stream",
      "anthropic-version": "2023-06-01",
    },
    body,
  });
  const text = await answer.text();
  return { status: answer.status, json: text.startsWith("{") ? JSON.parse(text) : null };
}

/** Long s and the Kelvin sign fold to letters that names have; Go's lower case of a dotted I is one of them too. */
const TOP = (cheap: string, dear: string): Record<string, string> => ({
  "another case": `{"model":"${cheap}","Model":"${dear}"}`,
  "another case before": `{"MODEL":"${dear}","model":"${cheap}"}`,
  "another case that is escaped": `{"model":"${cheap}","\\u004dodel":"${dear}"}`,
  "the name twice": `{"model":"${dear}","model":"${cheap}"}`,
  "the name twice, the other way": `{"model":"${cheap}","model":"${dear}"}`,
  "the name twice, one escaped": `{"model":"${cheap}","mod\\u0065l":"${dear}"}`,
  "only another case": `{"model":"${cheap}","MODELS":["${dear}"]}`,
  "a long s": `{"model":"${cheap}","model\u017f":["${dear}"]}`,
  "fallbacks in another case": `{"model":"${cheap}","fallbac\u212as":[{"model":"${dear}"}]}`,
  "a fallback with two models": `{"model":"${cheap}","fallbacks":[{"model":"${dear}","model":"${cheap}"}]}`,
  "a fallback in another case": `{"model":"${cheap}","fallbacks":[{"Model":"${dear}"}]}`,
  "fallbacks twice": `{"model":"${cheap}","fallbacks":[],"fallbacks":[{"model":"${dear}"}]}`,
  "a tool in another case": `{"model":"${cheap}","tools":[{"type":"advisor","mOdel":"${dear}"}]}`,
  "a tool with two models": `{"model":"${cheap}","tools":[{"type":"advisor","model":"${cheap}","model":"${dear}"}]}`,
  "a built-in tool's parameters": `{"model":"${cheap}","tools":[{"parameters":{"Model":"${dear}"},"type":"image"}]}`,
  "a built-in tool's parameters twice": `{"model":"${cheap}","tools":[{"type":"image","parameters":{"model":"${dear}","model":"${cheap}"}}]}`,
  "parameters in another case": `{"model":"${cheap}","tools":[{"type":"image","Parameters":{"model":"${dear}"}}]}`,
  "token ids in another case": `{"model":"${cheap}","Prompt_Token_IDs":[464],"Input_Ids":[464]}`,
  "token ids twice": `{"model":"${cheap}","input_ids":[464],"input_ids":[4168]}`,
  "another fallback name": `{"model":"${cheap}","FallBacks":["${dear}"]}`,
});

const JSON_SURFACES = {
  "/v1/chat/completions": "gpt",
  "/v1/responses": "gpt",
  "/v1/embeddings": "gpt",
  "/v1/moderations": "gpt",
  "/v1/images/generations": "gpt",
  "/v1/images/edits": "gpt",
  "/v1/audio/speech": "gpt",
  "/v1/messages": "claude",
  "/v1/messages/count_tokens": "claude",
} as const;

describe.each(Object.entries(JSON_SURFACES))("a body to %s with", (path, family) => {
  const [cheap, dear] = [`${family}-cheap`, `${family}-dear`] as const;

  test.each(Object.entries(TOP(cheap, dear)))("%s is 400 and runs nothing", async (_, body) => {
    const { status, json } = await post(path, body);
    expect([status, vendor.ran]).toEqual([400, []]);
    expect(json.error.type).toBe("invalid_request_error");
    expect(json.type).toBe(family === "claude" ? "error" : undefined);
    expect(json.error.message).not.toContain(dear);
  });

  test("one reading runs the cheap model", async () => {
    expect((await post(path, `{"model":"${cheap}","input":"x"}`)).status).toBe(200);
    expect(vendor.ran).toEqual([cheap]);
  });
});

describe("such names are the user's own", () => {
  const schema = { type: "object", properties: { Model: {}, model: {}, NAME: {} }, Model: "x", MODEL: "y" };
  test.each([
    { tools: [{ type: "function", function: { name: "f", parameters: schema } }] },
    { tools: [{ type: "function", name: "f", parameters: schema }] },
    { tools: [{ name: "f", input_schema: schema }] },
    { metadata: { Model: "x", USER: "y" } },
    { messages: [{ role: "user", content: '{"Model":"x","model":"y"}' }] },
    { messages: [{ role: "assistant", content: [{ type: "tool_use", input: { Model: 1, NAME: 2 } }] }] },
  ])("%j", async (body) => {
    for (const [path, model] of [
      ["/v1/chat/completions", "gpt-cheap"],
      ["/v1/messages", "claude-cheap"],
    ] as const) {
      expect((await post(path, JSON.stringify({ ...body, model }))).status).toBe(200);
    }
    const twice = '{"model":"gpt-cheap","metadata":{"a":"1","a":"2","Model":"3","model":"4"}}';
    expect((await post("/v1/chat/completions", twice)).status).toBe(200);
  });
});

type Part = readonly [name: string, content: string, more?: string];

const form = (parts: readonly Part[]) =>
  Buffer.from(
    `${parts
      .map(
        ([name, content, more = ""]) =>
          `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`,
      )
      .join("")}--b--\r\n`,
  );
const FILE: Part = ["file", "bytes", '; filename="a.bin"'];
const IMAGE: Part = ["image", "bytes", '; filename="a.png"'];

describe.each([
  "/v1/images/edits",
  "/v1/images/variations",
  "/v1/audio/transcriptions",
  "/v1/audio/translations",
])("a form to %s with", (path) => {
  const file = path.includes("images") ? IMAGE : FILE;
  test.each([
    ["another case", [["model", "gpt-cheap"], ["Model", "gpt-dear"], file]],
    ["another case behind the file", [["model", "gpt-cheap"], file, ["MODEL", "gpt-dear"]]],
    ["another case before", [["mOdel", "gpt-dear"], ["model", "gpt-cheap"], file]],
    ["another case as a file", [["model", "gpt-cheap"], ["Model", "gpt-dear", '; filename="m"'], file]],
    ["blanks around the name", [["model", "gpt-cheap"], [" model ", "gpt-dear"], file]],
    ["a list of models", [["model", "gpt-cheap"], ["model[]", "gpt-dear"], file]],
    ["two prompts", [["model", "gpt-cheap"], ["prompt", "a"], ["prompt", "b"], file]],
    ["two prompts about the file", [["model", "gpt-cheap"], ["prompt", "a"], file, ["prompt", "b"]]],
    [
      "a quoted-printable model",
      [
        [
          "model",
          'gpt-cheap\r\n--b\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Disposition: form-data; name="n"\r\n\r\n=32',
        ],
        file,
      ],
    ],
  ] as [string, Part[]][])("%s is 400 and runs nothing", async (_, parts) => {
    const { status, json } = await post(path, form(parts), "multipart/form-data; boundary=b");
    expect([status, vendor.ran]).toEqual([400, []]);
    expect(json.error.type).toBe("invalid_request_error");
  });

  test("two models are refused and run nothing", async () => {
    const parts: Part[] = [["model", "gpt-cheap"], ["model", "gpt-dear"], file];
    const { status } = await post(path, form(parts), "multipart/form-data; boundary=b");
    expect([status, vendor.ran]).toEqual([403, []]);
  });

  test("one reading runs the cheap model", async () => {
    const parts: Part[] = [["model", "gpt-cheap"], ["include[]", "a"], ["include[]", "b"], file];
    expect((await post(path, form(parts), "multipart/form-data; boundary=b")).status).toBe(200);
    expect(vendor.ran).toEqual(["gpt-cheap"]);
  });
});

describe("a batch's line with", () => {
  const line = (body: string, more = "") =>
    `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":${body}${more}}`;
  const lines: Record<string, string> = {
    ...Object.fromEntries(
      Object.entries(TOP("gpt-cheap", "gpt-dear")).map(([name, body]) => [name, line(body)]),
    ),
    "a body in another case": line('{"model":"gpt-cheap"}', ',"Body":{"model":"gpt-dear"}'),
    "two bodies": line('{"model":"gpt-cheap"}', ',"body":{"model":"gpt-dear"}'),
    "an address in another case": line('{"model":"gpt-cheap"}', ',"URL":"/v1/responses"'),
  };
  const upload = (content: string) =>
    post(
      "/v1/files",
      form([
        ["purpose", "batch"],
        ["file", content, '; filename="a.jsonl"'],
      ]),
      "multipart/form-data; boundary=b",
    );

  test.each(Object.entries(lines))("%s is 400 and runs nothing", async (_, content) => {
    const { status, json } = await upload(`${line('{"model":"gpt-cheap"}')}\n${content}\n`);
    expect([status, vendor.ran]).toEqual([400, []]);
    expect(json.error.message).toStartWith("Line 2: ");
  });

  test("one reading is taken", async () => {
    expect((await upload(`${line('{"model":"gpt-cheap"}')}\n`)).status).toBe(200);
    expect(vendor.ran).toEqual(["gpt-cheap"]);
  });

  test.each(["Purpose", "File", "file "])("a form that has %s as well is 400", async (name) => {
    const content = line('{"model":"gpt-cheap"}');
    const parts: Part[] = [
      ["purpose", "batch"],
      ["file", content, '; filename="a.jsonl"'],
      [name, "x"],
    ];
    const { status } = await post("/v1/files", form(parts), "multipart/form-data; boundary=b");
    expect([status, vendor.ran]).toEqual([400, []]);
  });
});

describe("a message batch with", () => {
  const one = (params: string, more = "") => `{"custom_id":"1","params":${params}${more}}`;
  const CHEAP = one('{"model":"claude-cheap"}');
  const bodies: Record<string, string> = {
    ...Object.fromEntries(
      Object.entries(TOP("claude-cheap", "claude-dear")).map(([name, body]) => [
        name,
        `{"requests":[${CHEAP},${one(body)}]}`,
      ]),
    ),
    "requests in another case": `{"requests":[${CHEAP}],"Requests":[${one('{"model":"claude-dear"}')}]}`,
    "requests twice": `{"requests":[${CHEAP}],"requests":[${one('{"model":"claude-dear"}')}]}`,
    "a request in another case": `{"requests":[${one('{"model":"claude-cheap"}', ',"Params":{"model":"claude-dear"}')}]}`,
    "a request with two": `{"requests":[${one('{"model":"claude-cheap"}', ',"params":{"model":"claude-dear"}')}]}`,
  };

  test.each(Object.entries(bodies))("%s is 400 and runs nothing", async (_, body) => {
    const { status, json } = await post("/v1/messages/batches", body);
    expect([status, vendor.ran]).toEqual([400, []]);
    expect(json).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  });
});

describe.each(["/mcp/files", "/mcp"])("a message to %s with", (path) => {
  const ok = path === "/mcp" ? "files__ok" : "ok";
  const dear = path === "/mcp" ? "files__delete_all" : "delete_all";
  const message = (rest: string) => `{"jsonrpc":"2.0","id":1,${rest}}`;
  const call = (rest: string) => message(`"method":"tools/call",${rest}`);
  const params = `"params":{"name":"${ok}","arguments":{}}`;

  test.each([
    ["params in another case", call(`${params},"Params":{"name":"${dear}"}`)],
    ["params in another case before", call(`"PARAMS":{"name":"${dear}"},${params}`)],
    ["params with a long s", call(`${params},"param\u017f":{"name":"${dear}"}`)],
    ["params twice", call(`${params},"params":{"name":"${dear}"}`)],
    ["a name in another case", call(`"params":{"name":"${ok}","Name":"delete_all"}`)],
    ["a name in another case, escaped", call(`"params":{"name":"${ok}","n\\u0041me":"delete_all"}`)],
    ["two names", call(`"params":{"name":"delete_all","name":"${ok}"}`)],
    ["arguments in another case", call(`"params":{"name":"${ok}","arguments":{},"Arguments":{"path":"/"}}`)],
    ["two arguments", call(`"params":{"name":"${ok}","arguments":{},"arguments":{"path":"/"}}`)],
    [
      "a method in another case",
      message(`"method":"ping","Method":"tools/call","params":{"name":"${dear}"}`),
    ],
    ["two methods", message(`"method":"ping","method":"tools/call","params":{"name":"${dear}"}`)],
    ["an id in another case", call(`"ID":2,${params}`)],
  ])("%s is refused and runs nothing", async (_, body) => {
    const { status, json } = await post(path, body);
    expect([status, vendor.ran]).toEqual([400, []]);
    expect(json).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32600 } });
  });

  test("the arguments' own names may be any", async () => {
    const own = call(`"params":{"name":"${ok}","arguments":{"Name":"a","name":"b","NAME":{"METHOD":1}}}`);
    expect((await post(path, own)).status).toBe(200);
  });
});

describe("a hook's event with", () => {
  const event = '"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_use_id":"t"';
  test.each([
    ["a tool in another case", `{${event},"Tool_Name":"Read"}`],
    ["two tools", `{${event},"tool_name":"Read"}`],
    ["a Kelvin sign", `{"events":[],"${event.slice(1)},"hoo\u212a_event_name":"Stop"}`],
    ["two servers", `{${event},"mcp_server":{"name":"a","name":"b"}}`],
    ["a listed event with two tools", `{"events":[{"id":"1","tool":"a","tool":"b","status":"ok"}]}`],
    ["a listed event in another case", `{"events":[{"id":"1","tool":"a","Tool":"b","status":"ok"}]}`],
  ])("%s is 400", async (_, body) => {
    expect((await post("/hooks/v1/events", body)).status).toBe(400);
  });

  test("the tool's input has names of its own", async () => {
    const body = `{${event},"tool_input":{"Tool_Name":"x","tool_name":"y","tool_name":"z"}}`;
    expect((await post("/hooks/v1/events", body)).status).toBe(200);
  });
});

test("a body in another media type goes up as plain JSON, and another charset is refused", async () => {
  const call = '{"model":"gpt-cheap"}';
  for (const type of [
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "text/plain",
    "application/x-www-form-urlencoded",
  ]) {
    expect((await post("/v1/chat/completions", call, type)).status).toBe(200);
    expect(vendor.types.at(-1)).toBe("application/json");
  }
  const before = vendor.types.length;
  for (const charset of ["utf-7", "utf-16", "iso-8859-1", '"utf-7"', "utf-8; charset=utf-7"]) {
    for (const path of [
      "/v1/chat/completions",
      "/v1/messages",
      "/v1/messages/batches",
      "/mcp/files",
      "/mcp",
    ]) {
      expect((await post(path, call, `application/json; charset=${charset}`)).status).toBe(415);
    }
    const parts: Part[] = [["model", "gpt-cheap"], FILE];
    const type = `multipart/form-data; boundary=b; charset=${charset}`;
    expect((await post("/v1/audio/transcriptions", form(parts), type)).status).toBeOneOf([400, 415]);
  }
  expect(vendor.types.length).toBe(before);
});

describe("an answer that names", () => {
  const recorded = async (model: string, answersAs: string) => {
    vendor.answersAs = answersAs;
    const session = newId();
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.secret}`, "x-session-id": session },
      body: JSON.stringify({ model, messages: [] }),
    });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    vendor.answersAs = null;
    await gateway.records(session);
    const { data } = await gateway.admin<{ data: Record<string, unknown>[] }>(
      "GET",
      `/requests?session=${session}`,
    );
    return data[0];
  };

  beforeAll(async () => {
    const price = { effective_from: "2020-01-01", output: "0" };
    await gateway.admin("POST", "/prices", { ...price, model: "gpt-cheap", input: "1" });
    await gateway.admin("POST", "/prices", { ...price, model: "gpt-dear", input: "1000" });
  });

  test("another model than the one that was asked for is priced by it and marked", async () => {
    expect(await recorded("gpt-cheap", "gpt-dear")).toMatchObject({
      model: "gpt-cheap",
      response_model: "gpt-dear",
      cost_usd: "1",
      model_mismatch: true,
    });
  });

  test.each(["gpt-cheap", "gpt-cheap-2026-08-06"])("the same model as %s is not", async (name) => {
    expect(await recorded("gpt-cheap", name)).toMatchObject({ cost_usd: "0.001", model_mismatch: false });
  });
});
