import { readPresent } from "#shared/env.ts";
import { SESSION_VARIABLE } from "../agents/variables.ts";

/** The part of opencode's hooks that this plugin uses. */
type Hooks = {
  "chat.headers"(call: unknown, output: { headers: Record<string, string> }): Promise<void>;
};

/** An opencode plugin: calls carry the run's session in opencode's own spelling, so that it replaces that header. */
export const tallygate = async (): Promise<Hooks> => ({
  "chat.headers": async (_call, output) => {
    const session = readPresent([SESSION_VARIABLE]).get(SESSION_VARIABLE);
    if (session) output.headers["X-Session-Id"] = session;
  },
});
