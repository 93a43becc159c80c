import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reachable } from "#gateway/cli/client/settings.ts";
import { type LauncherConfig, readLauncherConfig } from "#gateway/config.ts";
import { settingsOrExit } from "#shared/env.ts";
import { freePort } from "#test/support/ports.ts";
import { makeOwnDatabase, type OwnDatabase } from "./clickhouse.ts";

/** A gateway and a GitHub App that run, and what it takes to use them. */
export type Pair = {
  gatewayUrl: string;
  githubAppUrl: string;
  adminKey: string;
  webhookSecret: string;
  /** Whether the demo started it, and ends it. */
  own: boolean;
  close(): Promise<void>;
};

/** The set-up does not allow the demo; the message says what to do. */
export class DemoFault extends Error {}

const START = join(import.meta.dir, "../../gateway/cli/start.ts");
const START_MS_MAX = 90_000;

/**
 * A pair of the demo's own, or the running one that the settings name, if `WEBHOOK_SECRET` is among them: without it the
 * demo could not sign webhooks for that pair. @throws DemoFault where that one does not answer, or its keys are missing.
 */
export async function findPair(say: (text: string) => void): Promise<Pair> {
  const config = settingsOrExit(readLauncherConfig, 1);
  const webhookSecret = process.env["WEBHOOK_SECRET"]?.trim();
  if (!webhookSecret) return await startPair(say);
  const gatewayUrl = `http://${reachable(config.host, config.port)}`;
  const githubAppUrl = `http://${reachable(config.host, config.githubAppPort)}`;
  const adminKey = await adminKeyOf(config, gatewayUrl);
  if ((await statusOf(`${githubAppUrl}/readyz`)) !== 200) {
    throw new DemoFault(
      `The GitHub App does not answer at ${githubAppUrl}. Set GITHUB_APP_PORT to its port. ${INSTEAD}`,
    );
  }
  return { adminKey, webhookSecret, gatewayUrl, githubAppUrl, own: false, close: noop };
}

const INSTEAD = "Or unset WEBHOOK_SECRET: then the demo starts an installation of its own.";

const noop = async () => undefined;

async function adminKeyOf(config: LauncherConfig, gatewayUrl: string): Promise<string> {
  if ((await statusOf(`${gatewayUrl}/readyz`)) === null) {
    throw new DemoFault(
      `Nothing answers at ${gatewayUrl}. Start it with the same settings (bun run start). ${INSTEAD}`,
    );
  }
  const file = join(config.dataDirectory, "admin-key");
  const adminKey = config.adminKey?.reveal() ?? (existsSync(file) ? readFileSync(file, "utf8").trim() : "");
  const answer = await statusOf(`${gatewayUrl}/admin/v1/settings`, { authorization: `Bearer ${adminKey}` });
  if (answer === 200) return adminKey;
  throw new DemoFault(
    `${gatewayUrl} does not accept the admin key of ${config.adminKey ? "ADMIN_KEY" : file}. ` +
      `Set ADMIN_KEY or DATA_DIR as for the gateway. ${INSTEAD}`,
  );
}

async function startPair(say: (text: string) => void): Promise<Pair> {
  const clickhouse = await ownClickHouse();
  const ports = [freePort(), freePort()];
  const keys = { adminKey: `tga_${newSecret()}`, webhookSecret: newSecret() };
  const dataDirectory = join(tmpdir(), `tallygate-demo-${newSecret().slice(0, 12)}`);
  say(`Starting an installation in ${dataDirectory}${clickhouse ? ", with ClickHouse" : ""} …`);
  let told = "";
  const child = Bun.spawn([process.execPath, "--no-env-file", START], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? "/",
      PORT: String(ports[0]),
      GITHUB_APP_PORT: String(ports[1]),
      DATA_DIR: dataDirectory,
      ADMIN_KEY: keys.adminKey,
      WEBHOOK_SECRET: keys.webhookSecret,
      LOG_LEVEL: "warn",
      ...(clickhouse && { CLICKHOUSE_URL: clickhouse.url }),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) told = (told + decoder.decode(bytes, { stream: true })).slice(-8_000);
  };
  void collect(child.stdout);
  void collect(child.stderr);
  const close = async () => {
    child.kill("SIGTERM");
    await child.exited;
    rmSync(dataDirectory, { recursive: true, force: true });
    await clickhouse?.drop();
  };
  // The demo's own pair must not outlive it, not even one that is only starting.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => void close().finally(() => process.exit(130)));
  }
  const until = performance.now() + START_MS_MAX;
  while (!told.includes("Tallygate is ready.")) {
    if (child.exitCode !== null || performance.now() > until) {
      await close();
      throw new DemoFault(`The installation did not start:\n${told}`);
    }
    await Bun.sleep(50);
  }
  const [gatewayUrl = "", githubAppUrl = ""] = ports.map((port) => `http://127.0.0.1:${port}`);
  return { ...keys, gatewayUrl, githubAppUrl, own: true, close };
}

/** In the ClickHouse that `CLICKHOUSE_URL` names; null without one. @throws DemoFault where it cannot make a database. */
async function ownClickHouse(): Promise<OwnDatabase | null> {
  const address = process.env["CLICKHOUSE_URL"]?.trim();
  if (!address) return null;
  return await makeOwnDatabase(address).catch((error: Error) => {
    throw new DemoFault(
      `The demo cannot make a database of its own in ClickHouse: ${error.message}\nOr unset CLICKHOUSE_URL: then it uses Postgres alone.`,
    );
  });
}

const newSecret = (): string => crypto.getRandomValues(new Uint8Array(24)).toHex();

/** The status of a GET, or null where nothing answers. */
const statusOf = (url: string, headers: Record<string, string> = {}): Promise<number | null> =>
  fetch(url, { headers, signal: AbortSignal.timeout(3_000) }).then(
    ({ status }) => status,
    () => null,
  );
