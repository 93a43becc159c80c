import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { RUNTIME } from "#gateway/cli/start/environment.ts";
import { freePort } from "./ports.ts";
import { testDatabase } from "./postgres.ts";

export const ADMIN_KEY = "tga_test-admin-key-of-the-suite-0000000000000000";
const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");
const MAIN = join(import.meta.dir, "../../gateway/main.ts");

export type GatewayProcess = {
  url: string;
  databaseUrl: string;
  pid(): number;
  /** A call of the admin API below /admin/v1; throws on an answer that is not 2xx. */
  admin<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
  /** Kills with -9, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same port and directory. */
  start(): Promise<void>;
  /** SIGTERM, and waits for its end. */
  stop(): Promise<void>;
  /** Everything it has written to its log so far. */
  log(): string;
};

/** A real gateway process on a real Postgres, without the launcher. */
export async function startGateway(options: {
  dataDir: string;
  databaseUrl?: string;
  env?: Record<string, string>;
}): Promise<GatewayProcess> {
  mkdirSync(options.dataDir, { recursive: true });
  const own = options.databaseUrl ? null : await testDatabase();
  const databaseUrl = options.databaseUrl ?? own?.url ?? "";
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  let log = "";
  let child: Bun.Subprocess<"ignore", "pipe", "pipe"> | null = null;

  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) log += decoder.decode(chunk, { stream: true });
  };
  const start = async () => {
    child = Bun.spawn([process.execPath, MAIN], {
      stdout: "pipe",
      stderr: "pipe",
      env: {
        PATH: process.env["PATH"] ?? "",
        ...RUNTIME,
        PORT: String(port),
        DATABASE_URL: databaseUrl,
        DATA_DIR: options.dataDir,
        ADMIN_KEY,
        MASTER_KEY,
        LOG_LEVEL: "warn",
        ...options.env,
      },
    });
    void collect(child.stdout);
    void collect(child.stderr);
    await untilReady(url, () => log, child);
  };
  await start();
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    child?.kill(signal);
    await child?.exited;
  };
  return {
    url,
    databaseUrl,
    pid: () => child?.pid ?? 0,
    admin: (method, path, body) => adminCall(url, { method, path, body }),
    kill: () => end("SIGKILL"),
    start,
    stop: async () => {
      await end("SIGTERM");
      await own?.close();
    },
    log: () => log,
  };
}

async function untilReady(url: string, log: () => string, child: Bun.Subprocess): Promise<void> {
  const until = performance.now() + 20_000;
  for (;;) {
    const ready = await fetch(`${url}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    if (child.exitCode !== null || performance.now() > until) {
      // Nobody else knows it yet, so nobody else would end it.
      child.kill("SIGKILL");
      throw new Error(`the gateway did not start:\n${log()}`);
    }
    await Bun.sleep(30);
  }
}

async function adminCall<T>(url: string, call: { method: string; path: string; body: unknown }): Promise<T> {
  const answer = await fetch(`${url}/admin/v1${call.path}`, {
    method: call.method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${call.method} ${call.path}: ${answer.status} ${text}`);
  return (text ? JSON.parse(text) : null) as T;
}
