// ClickHouse's HTTP interface before the engine that chDB carries, as far as the official client uses it.
// Arguments: the directory of its data, the port (0: any free one), a user, and the password.
import { Session } from "chdb";

const [directory = "", port = "0", user = "", password = ""] = process.argv.slice(2);

/** Parameters of an address that are no settings of the engine. */
const NOT_SETTINGS =
  /^(param_.*|query|query_id|session_id|database|default_format|role|compress|enable_http_compression|send_progress_in_http_headers|wait_end_of_query|http_.*)$/;

/** As ClickHouse answers errors of these numbers; all others are 500. */
const STATUS: Record<number, number> = { 60: 404, 81: 404, 62: 400, 47: 400, 516: 403 };

/** A database has a connection of its own, which keeps it as the current one. */
const connections = new Map<string, Promise<Session>>();
function connectionTo(database: string): Promise<Session> {
  const open = async () => {
    const session = new Session(directory);
    await session.queryAsync(`use \`${database}\``);
    return session;
  };
  const known = connections.get(database) ?? open();
  connections.set(database, known);
  known.catch(() => connections.delete(database));
  return known;
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  idleTimeout: 0,
  maxRequestBodySize: 2 ** 31,
  async fetch(request) {
    const url = new URL(request.url);
    if (url.pathname === "/ping") return new Response("Ok.\n");
    try {
      if (!isKnown(request.headers.get("authorization"))) {
        throw new Error("Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)");
      }
      return await answer(request, url);
    } catch (error) {
      return failure(error);
    }
  },
});
process.stdout.write(`listening ${server.port}\n`);

const isKnown = (header: string | null): boolean =>
  user === "" || header === `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

async function answer(request: Request, url: URL): Promise<Response> {
  const { searchParams } = url;
  const { query, values } = await textsOf(request, searchParams);
  const settings = [...searchParams]
    .filter(([name]) => !NOT_SETTINGS.test(name))
    .map(([name, value]) => `${name} = '${value}'`);
  const session = await connectionTo(searchParams.get("database") ?? "default");
  const format = searchParams.get("default_format") ?? "TabSeparated";
  const text = withSettings(query, settings);
  const result =
    Object.keys(values).length > 0
      ? await session.queryBindAsync(text, values, { format })
      : await session.queryAsync(text, { format });
  const bytes = result.bytes();
  const packed = searchParams.get("enable_http_compression") === "1";
  return new Response(packed ? Bun.gzipSync(new Uint8Array(bytes)) : new Uint8Array(bytes), {
    headers: {
      "x-clickhouse-query-id": searchParams.get("query_id") ?? crypto.randomUUID(),
      "x-clickhouse-summary": JSON.stringify({ read_rows: String(result.rowsRead) }),
      ...(packed && { "content-encoding": "gzip" }),
    },
  });
}

/** The statement, and the values of its parameters. A statement in the address has its data in the body. */
async function textsOf(request: Request, search: URLSearchParams) {
  const isForm = request.headers.get("content-type")?.startsWith("multipart/form-data");
  const form = isForm ? [...(await request.formData())] : [];
  const fields: [string, string][] = [...search, ...form.map(([k, v]): [string, string] => [k, String(v)])];
  const packed = request.headers.get("content-encoding") === "gzip";
  const sent = isForm ? new Uint8Array() : new Uint8Array(await request.arrayBuffer());
  const body = new TextDecoder().decode(packed ? Bun.gunzipSync(sent) : sent);
  const [, named] = fields.find(([name]) => name === "query") ?? [];
  const values = fields.flatMap(([name, value]) =>
    name.startsWith("param_") ? [[name.slice("param_".length), paramOf(value)]] : [],
  );
  return { query: [named, body].filter(Boolean).join("\n"), values: Object.fromEntries(values) };
}

/** Behind a question, and within an INSERT before its rows. Other statements have none. */
function withSettings(query: string, settings: readonly string[]): string {
  if (settings.length === 0) return query;
  const text = `settings ${settings.join(", ")}`;
  if (/^\s*(select|with|explain)\b/i.test(query)) return `${query.replace(/;\s*$/, "")}\n${text}`;
  const rows = /^\s*insert\s+into\s[^\n]*?(?=\sformat\s+\w+)/i.exec(query)?.[0];
  return rows === undefined ? query : `${rows} ${text}${query.slice(rows.length)}`;
}

/** A parameter's value, which chDB writes anew: a list of texts, or one text. */
function paramOf(text: string): string | string[] {
  const plain = (escaped: string) =>
    escaped.replace(/\\(.)/gs, (_, letter) => ({ t: "\t", n: "\n", r: "\r" })[String(letter)] ?? letter);
  if (!/^\[.*\]$/s.test(text)) return plain(text);
  return [...text.matchAll(/'((?:[^'\\]|\\.)*)'/gs)].map(([, item = ""]) => plain(item));
}

function failure(error: unknown): Response {
  const text = error instanceof Error ? error.message : String(error);
  const code = Number(/^Code: (\d+)/.exec(text)?.[1] ?? 1001);
  return new Response(`${text}\n`, {
    status: STATUS[code] ?? 500,
    headers: { "x-clickhouse-exception-code": String(code) },
  });
}
