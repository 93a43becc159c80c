import { join } from "node:path";
import type { Agent, AgentSettings } from "./agent.ts";
import { SESSION_HEADER, sessionAmong, withHeaderItem } from "./headers.ts";
import { fileText, type Homes } from "./homes.ts";
import { editGroups, HOOK_SECONDS } from "./json-settings.ts";
import { clientKeyAmong } from "./key-command.ts";
import { forwarder, KEY_OR_LOGIN, REPORT_SECONDS } from "./managed.ts";
import { functionOf, ledByFunction } from "./shell-profiles.ts";

const ADDRESS = "GOOGLE_GEMINI_BASE_URL";
const HEADERS = "GEMINI_CLI_CUSTOM_HEADERS";
/** The kind of sign-in with which it takes its address and its key from the environment. */
const SIGN_IN = "gemini-api-key";

const directory = ({ home }: Homes): string => join(home, ".gemini");

export const GEMINI = {
  title: "Gemini CLI",
  names: ["gemini", "@google/gemini-cli"],
  sessionVariables: ["GEMINI_SESSION_ID"],
  directory,
  run: ({ session, homes: { env }, gateway }) => ({
    env: {
      [HEADERS]: withHeaderItem(env(HEADERS), SESSION_HEADER, session),
      ...(gateway && !env(ADDRESS) && { [ADDRESS]: gateway.url, GEMINI_API_KEY: gateway.key }),
    },
  }),
  settings,
  lead: (url) => `set ${ADDRESS}=${url} and GEMINI_API_KEY to a client key`,
  hook: {
    path: (homes) => join(directory(homes), "settings.json"),
    edit: editGroups(["AfterTool"], (command) => [
      {
        matcher: "run_shell_command|mcp_.*pull_request.*",
        hooks: [{ name: "tallygate-stamp", type: "command", command, timeout: HOOK_SECONDS * 1000 }],
      },
    ]),
  },
  gateway: { afterwards: "Open a new shell.", signIn: { type: SIGN_IN, isChosen: true } },
  managed: {
    paths: {
      darwin: "/Library/Application Support/GeminiCli/settings.json",
      linux: "/etc/gemini-cli/settings.json",
      win32: "C:\\ProgramData\\gemini-cli\\settings.json",
    },
    text: (url, { gateway }) => {
      const security = { auth: { selectedType: SIGN_IN, enforcedType: SIGN_IN } };
      return `${JSON.stringify({ ...(gateway && { security }), hooks: hooks(url) }, null, 2)}\n`;
    },
    needs: (_, { gateway }) =>
      gateway
        ? `On each machine, its user has run \`tallygate login\`, and a profile of the shell has the line\n  ${functionOf({ name: "gemini", command: "tallygate run --quiet -- gemini" })}`
        : `On each machine, ${KEY_OR_LOGIN}.`,
  },
} as const satisfies Agent;

/** The member `hooks` of its settings.json that reports tool calls. */
function hooks(url: string): Record<string, unknown> {
  const command = forwarder(url, "gemini-cli");
  const hook = { name: "tallygate", type: "command", command, timeout: REPORT_SECONDS * 1000 };
  const events = ["BeforeTool", "AfterTool", "SessionEnd"];
  return Object.fromEntries(events.map((event) => [event, [{ matcher: "*", hooks: [hook] }]]));
}

async function settings(homes: Homes): Promise<AgentSettings> {
  const file = join(directory(homes), ".env");
  const text = await fileText(file);
  const inFile = (name: string) =>
    new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=\\s*["']?([^"'\\s#]+)`, "m").exec(text)?.[1];
  const set = (name: string) => homes.env(name) ?? inFile(name);
  const run = set(ADDRESS) ? null : ledByFunction("gemini", homes);
  if (run) return run;
  return {
    address: set(ADDRESS) ?? null,
    key: clientKeyAmong([set("GEMINI_API_KEY")]),
    fixedSession: sessionAmong(set(HEADERS)),
    source: homes.env(ADDRESS) ? ADDRESS : file,
    sessionSource: HEADERS,
  };
}
