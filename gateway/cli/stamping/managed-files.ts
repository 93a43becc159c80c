import {
  codexHookTables,
  geminiHooks,
  KEY_VARIABLE,
  MANAGED_SETTINGS_PATHS,
  managedSettings,
} from "../../hooks/managed-settings.ts";
import type { AgentName } from "./agents.ts";
import { GATEWAY_FILES } from "./gateway-files.ts";
import { GEMINI_SIGN_IN } from "./gemini-sign-in.ts";
import { functionOf } from "./shell-profiles.ts";

type ManagedOptions = {
  /** Send the agent's calls to the gateway, too, where the file can say so. */
  gateway: boolean;
  /** Tools do not run while the gateway is unreachable; otherwise agents continue. */
  required: boolean;
};

/** A file that an administrator puts on an organisation's machines. */
type ManagedFile = {
  /** Where the agent looks for it, by `process.platform`. */
  paths: Readonly<Partial<Record<NodeJS.Platform, string>>>;
  text(url: string, options: ManagedOptions): string;
  /** What else each machine needs, in a sentence. */
  needs(url: string, options: ManagedOptions): string;
};

/** On people's machines the program is on the PATH. */
const connectionTo = (url: string) => ({ url, keyCommand: ["tallygate", "key", "--url", url] });

const KEY_OR_LOGIN = `${KEY_VARIABLE} holds a client key, or its user has run \`tallygate login\``;

/** Agents with a file for administrators. */
export const MANAGED_FILES: Readonly<Partial<Record<AgentName, ManagedFile>>> = {
  claude: {
    paths: MANAGED_SETTINGS_PATHS,
    text: (url, { required }) => managedSettings(url, { required }),
    needs: () => `On each machine, ${KEY_VARIABLE} holds a client key.`,
  },
  codex: {
    paths: { darwin: "/etc/codex/config.toml", linux: "/etc/codex/config.toml" },
    text: (url, { gateway }) => {
      const provider = gateway ? GATEWAY_FILES.codex.edit(null, connectionTo(url)) : null;
      return [provider, codexHookTables(url)].filter((part) => part).join("\n");
    },
    needs: (_, { gateway }) =>
      `On each machine, ${gateway ? "its user has run `tallygate login`" : KEY_OR_LOGIN}.`,
  },
  gemini: {
    paths: {
      darwin: "/Library/Application Support/GeminiCli/settings.json",
      linux: "/etc/gemini-cli/settings.json",
      win32: "C:\\ProgramData\\gemini-cli\\settings.json",
    },
    text: (url, { gateway }) => {
      const security = { auth: { selectedType: GEMINI_SIGN_IN, enforcedType: GEMINI_SIGN_IN } };
      return `${JSON.stringify({ ...(gateway && { security }), hooks: geminiHooks(url) }, null, 2)}\n`;
    },
    needs: (_, { gateway }) =>
      gateway
        ? `On each machine, its user has run \`tallygate login\`, and a profile of the shell has the line\n  ${functionOf({ name: "gemini", command: "tallygate run --quiet -- gemini" })}`
        : `On each machine, ${KEY_OR_LOGIN}.`,
  },
};
