import { beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { type RequestOptions, request } from "node:http";
import { join } from "node:path";
import { atEnd } from "#test/support/at-end.ts";
import { startChild } from "#test/support/child.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY, type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { freePort } from "#test/support/ports.ts";
import { scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";

const DEPLOY = join(import.meta.dir, "../../gateway/deploy");
const PROGRAMS = "/usr/sbin:/usr/local/sbin";

type Addresses = { port: number; gateway: string };

/** A sample with its addresses replaced and without TLS; each replacement must find its text. */
async function sample(name: string, replacements: readonly [string | RegExp, string][]): Promise<string> {
  let text = await Bun.file(join(DEPLOY, name)).text();
  for (const [from, to] of replacements) {
    const replaced = text.replaceAll(typeof from === "string" ? from : new RegExp(from, "g"), to);
    if (replaced === text) throw new Error(`${name} does not have ${from}`);
    text = replaced;
  }
  return text;
}

const proxies = {
  nginx: async ({ port, gateway }: Addresses, place: string) => {
    const server = await sample("nginx.conf", [
      ["127.0.0.1:8787", gateway],
      ["listen 443 ssl", `listen 127.0.0.1:${port}`],
      [/ +ssl_certificate.*\n/, ""],
    ]);
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (it) => `${it}_temp_path ${place}/${it};`,
    );
    const http = `access_log off; ${paths.join(" ")}\n${server}`;
    const file = join(place, "main.conf");
    writeFileSync(file, `daemon off; pid ${place}/pid; error_log stderr; events {}\nhttp { ${http} }`);
    return ["-p", place, "-c", file];
  },
  caddy: async ({ port, gateway }: Addresses, place: string) => {
    const site = await sample("Caddyfile", [
      ["127.0.0.1:8787", gateway],
      ["tallygate.example.com {", `http://127.0.0.1:${port} {`],
    ]);
    const file = join(place, "Caddyfile");
    writeFileSync(file, `{\n\tadmin off\n}\n${site}`);
    return ["run", "--config", file, "--adapter", "caddyfile"];
  },
};

const frame = (content: string) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "gpt-x", choices: [{ index: 0, delta: { content } }] })}\n\n`;

/** `fetch` cannot choose its own address. */
function status(url: string, options: RequestOptions, body: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request(url, options, (answer) => resolve(answer.resume().statusCode))
    .on("error", reject)
    .end(body);
  return promise;
}

let gateway = "";
let gatewayAdmin: GatewayProcess["admin"];
let secret = "";
let goOn = Promise.withResolvers<void>();

beforeAll(async () => {
  const upstream = await scriptedUpstream(async (_, reply) => {
    reply.head("text/event-stream");
    reply.chunk(frame("first"));
    await goOn.promise;
    reply.chunk(frame("last"));
    reply.chunk("data: [DONE]\n\n");
    reply.end();
  });
  const env = { TRUSTED_PROXIES: "127.0.0.1/32" };
  const started = await startGateway({ dataDir: scratch().path, env });
  gatewayAdmin = started.admin;
  await started.admin("PUT", "/providers/vendor", {
    kind: "openai-compatible",
    base_url: `${upstream.url}/v1`,
    allow_private_network: true,
    models: ["gpt-x"],
  });
  ({ secret } = await started.admin<{ secret: string }>("POST", "/keys", { name: "suite" }));
  gateway = started.url.replace("http://", "");
});

describe.each(Object.entries(proxies))("the sample for %s", (name, prepare) => {
  const program = Bun.which(name, { PATH: `${Bun.env["PATH"]}:${PROGRAMS}` });
  if (program === null) console.error(`${name} is not installed, so its sample is not run`);

  let url = "";
  beforeAll(async () => {
    if (program === null) return;
    const { path: place } = scratch();
    chmodSync(place, 0o755);
    mkdirSync(join(place, "home"));
    const port = freePort();
    url = `http://127.0.0.1:${port}`;
    const words = await prepare({ port, gateway }, place);
    const proxy = await startChild([program, ...words], { HOME: join(place, "home"), PATH: "/usr/bin:/bin" });
    atEnd(() => proxy.end("SIGTERM"));
    await until(async () => {
      if (proxy.hasExited()) throw new Error(proxy.log());
      return fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
  });

  test.if(program !== null)("passes WebSockets", async () => {
    const socket: Bun.WebSocket = Reflect.construct(WebSocket, [
      `${url.replace("http", "ws")}/v1/responses`,
      { headers: { authorization: `Bearer ${secret}` } },
    ]);
    const ended = Promise.withResolvers<string>();
    socket.onmessage = ({ data }) => {
      if (String(data).includes("response.completed")) ended.resolve(String(data));
    };
    socket.onclose = () => ended.reject(new Error("closed"));
    socket.onopen = () => socket.send('{"type":"response.create","model":"echo","input":"Hello"}');
    expect(await ended.promise).toContain("Hello");
    socket.close();
  });

  test.if(program !== null)("hands the client's own address on, not one that the client wrote", async () => {
    const headers = {
      authorization: `Bearer ${ADMIN_KEY}`,
      "content-type": "application/json",
      "x-forwarded-for": "198.51.100.7",
      forwarded: "for=198.51.100.8",
    };
    const from = { localAddress: "127.0.0.2", method: "PATCH", headers };
    expect(await status(`${url}/admin/v1/settings`, from, '{"hooks":true}')).toBe(200);
    const { data } = await gatewayAdmin<{ data: object[] }>("GET", "/audit?action=settings.changed&limit=1");
    expect(data).toMatchObject([{ address: "127.0.0.2" }]);
  });

  test.if(program !== null)("passes a stream's first event on before the last one is sent", async () => {
    goOn = Promise.withResolvers();
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-x", stream: true, messages: [{ role: "user", content: "Hello" }] }),
    });
    let seen = "";
    const decoder = new TextDecoder();
    for await (const bytes of answer.body ?? []) {
      seen += decoder.decode(bytes, { stream: true });
      // Nothing else lets the provider go on: a proxy that collects the answer first would never get its end.
      if (seen.includes("first")) goOn.resolve();
    }
    expect(seen).toMatch(/first[\s\S]*last[\s\S]*\[DONE\]/);
    const headers = { "x-hub-signature-256": "sha256=0" };
    const webhook = await fetch(`${url}/api/github/webhooks`, { method: "POST", body: "{}", headers });
    // No App listens there: the proxy did not send it to the gateway.
    expect(webhook.status).toBe(502);
    expect((await fetch(`${url}/setup/enter?token=x`)).status).toBe(502);
    // The gateway answers, whether or not its console is built.
    expect((await fetch(`${url}/set-up`, { headers: { accept: "text/html" } })).status).not.toBe(502);
  });
});
