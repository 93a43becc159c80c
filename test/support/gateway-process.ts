import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { RUNTIME } from "#gateway/cli/start/environment.ts";
import { clickHouseBeside } from "./clickhouse.ts";
import { testDatabase } from "./postgres.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

export const ADMIN_KEY = "tga_test-admin-key-of-the-suite-0000000000000000";
export const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");
const MAIN = join(import.meta.dir, "../../gateway/main.ts");

export type GatewayProcess = ServerProcess & {
  databaseUrl: string;
  /** A call of the admin API below /admin/v1; throws on an answer that is not 2xx. */
  admin<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
};

/**
 * A real gateway process on a real Postgres, without the launcher; of this checkout unless `main` is another one's. Its reports
 * are read from ClickHouse, if the suites run with it or `env` says so.
 */
export async function startGateway(options: GatewayOptions & { main?: string }): Promise<GatewayProcess> {
  const settings = await gatewaySettings(options);
  // Without its packages Bun would install them while it runs, and the gateway would not be ready for minutes.
  if (options.main && !existsSync(join(options.main, "../../node_modules")))
    throw new Error(`${options.main} has no packages: run bun install there`);
  const server = await startServer(options.main ?? MAIN, "PORT", { ...RUNTIME, ...settings });
  return {
    ...server,
    databaseUrl: settings.DATABASE_URL,
    admin: (method, path, body) => adminCall(server.url, { method, path, body }),
  };
}

export type GatewayOptions = { dataDir: string; databaseUrl?: string; env?: Record<string, string> };

/** The environment of a gateway of the suites. */
export async function gatewaySettings({
  main,
  ...options
}: GatewayOptions & { main?: string }): Promise<Record<string, string> & { DATABASE_URL: string }> {
  mkdirSync(options.dataDir, { recursive: true });
  const databaseUrl = options.databaseUrl ?? (await testDatabase({ ofGateway: true })).url;
  const clickhouseUrl = main === undefined ? await clickHouseBeside(databaseUrl) : null;
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: options.dataDir,
    ADMIN_KEY,
    MASTER_KEY,
    // Suites present many wrong keys from one address.
    REFUSALS_PER_MINUTE: "1000000",
    // Other suites may hold the machine for longer than Postgres may take elsewhere.
    LIMITS_AWAY_AFTER_MS: "5000",
    ...(clickhouseUrl !== null && { CLICKHOUSE_URL: clickhouseUrl }),
    ...options.env,
  };
}

export async function adminCall<T>(
  url: string,
  call: { method: string; path: string; body: unknown },
): Promise<T> {
  const answer = await fetch(`${url}/admin/v1${call.path}`, {
    method: call.method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${call.method} ${call.path}: ${answer.status} ${text}`);
  return (text ? JSON.parse(text) : null) as T;
}
