import { homedir } from "node:os";
import { join } from "node:path";
import { readPresent } from "#shared/env.ts";
import { isRecord } from "#shared/json.ts";
import type { CodexSettings } from "./agents.ts";
import { DIRECTORIES } from "./hook-files.ts";

export const NO_CODEX: CodexSettings = { provider: null, toolServers: [] };

/** Names that a dotted key of `-c` can have without quotes. */
const BARE = /^[A-Za-z0-9_-]+$/;

/** What matters of Codex's own settings. With a null address, no tool server is known to be the gateway's. */
export async function codexSettings(gatewayUrl: string | null): Promise<CodexSettings> {
  const settings = await codexConfig();
  const { model_provider: chosen, model_providers: own, mcp_servers: servers } = settings;
  const isGateways = (server: unknown) =>
    isRecord(server) &&
    typeof server["url"] === "string" &&
    server["url"].startsWith(`${gatewayUrl}/mcp`) &&
    !(isRecord(server["http_headers"]) && "x-session-id" in server["http_headers"]);
  return {
    provider: typeof chosen === "string" && isRecord(own) && Object.hasOwn(own, chosen) ? chosen : null,
    toolServers: Object.entries(isRecord(servers) ? servers : {}).flatMap(([name, server]) =>
      BARE.test(name) && isGateways(server) ? [name] : [],
    ),
  };
}

/** Codex's `config.toml`; empty if it is missing or cannot be parsed. */
export async function codexConfig(): Promise<Record<string, unknown>> {
  const own = DIRECTORIES.codex({ home: homedir(), env: (name) => readPresent([name]).get(name) });
  const text = await Bun.file(join(own, "config.toml"))
    .text()
    .catch(() => "");
  try {
    const settings: unknown = Bun.TOML.parse(text);
    return isRecord(settings) ? settings : {};
  } catch {
    return {};
  }
}
