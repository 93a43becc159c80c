import { readPresent } from "#shared/env.ts";
import { SESSION_VARIABLE } from "../../hooks/managed-settings.ts";

/** What this plugin uses of opencode's hooks. */
type Hooks = {
  "chat.headers"(call: unknown, output: { headers: Record<string, string> }): Promise<void>;
};

/**
 * A plugin of opencode: every call of a model carries the run's session instead of opencode's own. The name is written as
 * opencode writes it, so that it takes that header's place.
 */
export const tallygate = async (): Promise<Hooks> => ({
  "chat.headers": async (_call, output) => {
    const session = readPresent([SESSION_VARIABLE]).get(SESSION_VARIABLE);
    if (session) output.headers["X-Session-Id"] = session;
  },
});
