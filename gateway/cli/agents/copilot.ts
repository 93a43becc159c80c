import { join } from "node:path";
import type { Agent, AgentSettings } from "./agent.ts";
import { SESSION_HEADER, sessionAmong, withHeaderLine } from "./headers.ts";
import type { Homes } from "./homes.ts";
import { HOOK_SECONDS, jsonText } from "./json-settings.ts";
import { clientKeyAmong } from "./key-command.ts";
import { ledByFunction } from "./shell-profiles.ts";

const ADDRESS = "COPILOT_PROVIDER_BASE_URL";
const KEY = "COPILOT_PROVIDER_API_KEY";
const HEADERS = "COPILOT_PROVIDER_HEADERS";

const directory = ({ home, env }: Homes): string => env("COPILOT_HOME") ?? join(home, ".copilot");

export const COPILOT = {
  title: "Copilot CLI",
  names: ["copilot", "@github/copilot"],
  directory,
  run: ({ session, homes: { env }, gateway }) => ({
    env: {
      [HEADERS]: withHeaderLine(env(HEADERS), SESSION_HEADER, session),
      ...(gateway &&
        !env(ADDRESS) && {
          [ADDRESS]: `${gateway.url}/v1`,
          COPILOT_PROVIDER_TYPE: "openai",
          [KEY]: gateway.key,
        }),
    },
  }),
  settings,
  lead: (url) => `set ${ADDRESS}=${url}/v1 and ${KEY} to a client key`,
  hook: {
    path: (homes) => join(directory(homes), "hooks", "tallygate.json"),
    edit: (_, command) =>
      command &&
      jsonText({
        version: 1,
        hooks: { postToolUse: [{ type: "command", bash: command, timeoutSec: HOOK_SECONDS }] },
      }),
  },
  gateway: { afterwards: "Open a new shell, and choose a model: --model NAME, or COPILOT_MODEL." },
} as const satisfies Agent;

async function settings(homes: Homes): Promise<AgentSettings> {
  const { env } = homes;
  const run = env(ADDRESS) ? null : ledByFunction("copilot", homes);
  if (run) return run;
  return {
    address: env(ADDRESS) ?? null,
    key: clientKeyAmong([env(KEY)]),
    fixedSession: sessionAmong(env(HEADERS)),
    source: ADDRESS,
    sessionSource: HEADERS,
  };
}
