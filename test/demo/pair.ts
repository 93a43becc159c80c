import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reachable } from "#gateway/cli/start/ports.ts";
import { type LauncherConfig, readLauncherConfig } from "#gateway/config.ts";
import { settingsOrExit } from "#shared/env.ts";
import { freePort } from "#test/support/ports.ts";

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
/** Whoever sets one of these means a pair that runs already. */
const MEANS_A_RUNNING_PAIR = ["PORT", "GITHUB_APP_PORT", "HOST", "DATA_DIR"];

/**
 * The pair that the settings name, if it runs and the demo has its keys, else one of the demo's own. @throws DemoFault
 * where the settings name a pair that does not answer, or whose keys are missing.
 */
export async function findPair(say: (text: string) => void): Promise<Pair> {
  const config = settingsOrExit(readLauncherConfig, 1);
  const named = MEANS_A_RUNNING_PAIR.some((name) => process.env[name]?.trim());
  const gatewayUrl = `http://${reachable(config.host, config.port)}`;
  const githubAppUrl = `http://${reachable(config.host, config.githubAppPort)}`;
  const status = await statusOf(`${gatewayUrl}/readyz`);
  if (status === null && named) {
    throw new DemoFault(
      `Nothing answers at ${gatewayUrl}. Start it with the same settings (bun run start), or unset ` +
        `${MEANS_A_RUNNING_PAIR.join(", ")}: then the demo starts a pair of its own.`,
    );
  }
  if (status === null) return await startPair(say);
  const fault = await keysFault({ config, gatewayUrl, githubAppUrl });
  if (typeof fault !== "string") return { ...fault, gatewayUrl, githubAppUrl, own: false, close: noop };
  if (named) throw new DemoFault(fault);
  say(`${fault}\nSo the demo starts a pair of its own beside it.\n`);
  return await startPair(say);
}

const noop = async () => undefined;

type Keys = Pick<Pair, "adminKey" | "webhookSecret">;
type Found = { config: LauncherConfig; gatewayUrl: string; githubAppUrl: string };

/** The keys of the running pair, or why they are not to be had. */
async function keysFault({ config, gatewayUrl, githubAppUrl }: Found): Promise<Keys | string> {
  const file = join(config.dataDirectory, "admin-key");
  const adminKey = config.adminKey?.reveal() ?? (existsSync(file) ? readFileSync(file, "utf8").trim() : null);
  if (adminKey === null) {
    return `The pair at ${gatewayUrl} keeps its admin key elsewhere: ${file} is not there. Set DATA_DIR or ADMIN_KEY as it has them.`;
  }
  const answer = await statusOf(`${gatewayUrl}/admin/v1/settings`, { authorization: `Bearer ${adminKey}` });
  if (answer !== 200) {
    return `${gatewayUrl} does not take the admin key of ${config.adminKey ? "ADMIN_KEY" : file} (status ${answer}). Set DATA_DIR or ADMIN_KEY as it has them.`;
  }
  const webhookSecret = process.env["WEBHOOK_SECRET"]?.trim();
  if (!webhookSecret) {
    return `The demo signs webhooks for ${githubAppUrl} and needs its WEBHOOK_SECRET: start both with the same one, of 16 characters or more.`;
  }
  if ((await statusOf(`${githubAppUrl}/readyz`)) !== 200) {
    return `The GitHub App does not answer at ${githubAppUrl}. Set GITHUB_APP_PORT as it has it.`;
  }
  return { adminKey, webhookSecret };
}

async function startPair(say: (text: string) => void): Promise<Pair> {
  const ports = [freePort(), freePort()];
  const keys = { adminKey: `tga_${newSecret()}`, webhookSecret: newSecret() };
  const dataDirectory = join(tmpdir(), `tallygate-demo-${newSecret().slice(0, 12)}`);
  say(`Starting a pair in ${dataDirectory} …`);
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
  };
  // The demo's own pair must not outlive it, not even one that is only starting.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => void close().finally(() => process.exit(130)));
  }
  const until = performance.now() + START_MS_MAX;
  while (!told.includes("Tallygate is ready.")) {
    if (child.exitCode !== null || performance.now() > until) {
      await close();
      throw new DemoFault(`The pair did not start:\n${told}`);
    }
    await Bun.sleep(50);
  }
  const [gatewayUrl = "", githubAppUrl = ""] = ports.map((port) => `http://127.0.0.1:${port}`);
  return { ...keys, gatewayUrl, githubAppUrl, own: true, close };
}

const newSecret = (): string => crypto.getRandomValues(new Uint8Array(24)).toHex();

/** The status of a GET, or null where nothing answers. */
const statusOf = (url: string, headers: Record<string, string> = {}): Promise<number | null> =>
  fetch(url, { headers, signal: AbortSignal.timeout(3_000) }).then(
    ({ status }) => status,
    () => null,
  );
