import { basename, join, resolve } from "node:path";
import { startGateway } from "#test/support/gateway-process.ts";
import { freePort, untilAnswers } from "#test/support/ports.ts";

/** A proxy under load: where it listens, what a call to it must carry, and which processes are its own. */
export type Contender = {
  name: string;
  url: string;
  model: string;
  headers: Record<string, string>;
  pids(): number[];
  stop(): Promise<void>;
};

type Place = { directory: string; upstream: string };

const ANSWER = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_790_000_000,
  model: "gpt-4o-mini",
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: "Because air scatters blue light more than red light. ".repeat(5),
      },
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 17, completion_tokens: 55, total_tokens: 72 },
});

function sse(): string {
  const chunk = (delta: object, rest: object = {}) =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", model: "gpt-4o-mini", choices: [{ index: 0, delta, ...rest }] })}\n\n`;
  const usage = { prompt_tokens: 17, completion_tokens: 20, total_tokens: 37 };
  return [
    chunk({ role: "assistant", content: "" }),
    ...Array.from({ length: 20 }, (_, index) => chunk({ content: ` word${index}` })),
    chunk({}, { finish_reason: "stop" }),
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", model: "gpt-4o-mini", choices: [], usage })}\n\n`,
    "data: [DONE]\n\n",
  ].join("");
}

async function startNginx(
  directory: string,
  name: string,
  server: string,
): Promise<{ pids(): number[]; stop(): Promise<void> }> {
  const file = join(directory, `${name}.conf`);
  await Bun.write(
    file,
    `daemon off; master_process off; pid ${join(directory, `${name}.pid`)}; error_log stderr crit;
     events { worker_connections 4096; }
     http { access_log off; keepalive_requests 1000000000; client_body_temp_path ${directory}/${name}-body;
       proxy_temp_path ${directory}/${name}-proxy; fastcgi_temp_path ${directory}/x1; uwsgi_temp_path ${directory}/x2;
       scgi_temp_path ${directory}/x3; types { } default_type application/json; ${server} }`,
  );
  const run = Bun.spawn(["nginx", "-c", file, "-p", directory], { stdout: "ignore", stderr: "inherit" });
  return {
    pids: () => [run.pid],
    stop: async () => {
      run.kill();
      await run.exited;
    },
  };
}

/** The provider: nginx with one fixed answer, read from a file. */
export async function startUpstream(directory: string, stream: boolean) {
  const port = freePort();
  await Bun.write(join(directory, "answer"), stream ? sse() : ANSWER);
  const nginx = await startNginx(
    directory,
    "upstream",
    `server { listen 127.0.0.1:${port} backlog=4096; root ${directory};
       location = /answer { default_type "${stream ? "text/event-stream" : "application/json"}"; }
       location / { error_page 405 =200 /answer; return 405; } }`,
  );
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(`${url}/answer`);
  return { url, stop: nginx.stop };
}

async function nginxProxy({ directory, upstream }: Place): Promise<Contender> {
  const port = freePort();
  const nginx = await startNginx(
    directory,
    "proxy",
    `upstream provider { server ${new URL(upstream).host}; keepalive 256; }
     server { listen 127.0.0.1:${port} backlog=4096;
       location / { proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; } }`,
  );
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(`${url}/answer`);
  return { name: "nginx", url, model: "gpt-4o-mini", headers: {}, ...nginx };
}

const tallygate = (place: Place): Promise<Contender> => gatewayOf({ name: "tallygate" }, place);

/** The gateway of another checkout, to compare with. */
export const former =
  (checkout: string) =>
  (place: Place): Promise<Contender> =>
    gatewayOf({ name: basename(checkout), main: resolve(checkout, "gateway/main.ts") }, place);

async function gatewayOf(
  { name, main }: { name: string; main?: string },
  { directory, upstream }: Place,
): Promise<Contender> {
  const gateway = await startGateway({ dataDir: join(directory, name), ...(main ? { main } : {}) });
  await gateway.admin("PUT", "/providers/bench", {
    kind: "openai-compatible",
    base_url: `${upstream}/v1`,
    credential: "sk-bench",
    models: ["gpt-4o-mini"],
    allow_private_network: true,
  });
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "bench" });
  return {
    name,
    url: gateway.url,
    model: "gpt-4o-mini",
    headers: {
      authorization: `Bearer ${secret}`,
      "x-session-id": "bench-session",
      "x-tags": "bench,overhead",
    },
    pids: () => [gateway.pid()],
    stop: gateway.stop,
  };
}

/** `Bun.serve` with `fetch`, and nothing in between. */
async function bare({ upstream }: Place): Promise<Contender> {
  const port = freePort();
  const run = Bun.spawn([process.execPath, join(import.meta.dir, "bare.ts"), String(port), upstream]);
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(`${url}/answer`);
  const stop = async () => {
    run.kill();
    await run.exited;
  };
  return { name: "bare Bun", url, model: "gpt-4o-mini", headers: {}, pids: () => [run.pid], stop };
}

async function portkey({ upstream }: Place): Promise<Contender> {
  const port = freePort();
  const script = join(import.meta.dir, "../../../node_modules/@portkey-ai/gateway/build/start-server.js");
  const run = Bun.spawn(["node", script, `--port=${port}`, "--headless"], {
    stdout: "ignore",
    stderr: "inherit",
    env: { PATH: process.env["PATH"] ?? "", NODE_ENV: "production" },
  });
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(url);
  return {
    name: "portkey",
    url,
    model: "gpt-4o-mini",
    headers: {
      authorization: "Bearer sk-bench",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `${upstream}/v1`,
    },
    pids: () => [run.pid],
    stop: async () => {
      run.kill();
      await run.exited;
    },
  };
}

export const CONTENDERS: readonly ((place: Place) => Promise<Contender>)[] = [
  nginxProxy,
  bare,
  tallygate,
  portkey,
];
