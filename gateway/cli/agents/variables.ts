// What an agent's processes are told by environment variables. opencode loads this file, so nothing else is in it.

/** The client key on agents' machines. */
export const KEY_VARIABLE = "TALLYGATE_KEY";

/** In which `tallygate run` passes the session to an agent; without it, the agent's own session counts. */
export const SESSION_VARIABLE = "GATEWAY_SESSION_ID";

/** In which a hook that we start ourselves is told whose it is. */
export const HOOK_AGENT = "TALLYGATE_HOOK_AGENT";

/** The name under which opencode lists the gateway's models. */
export const OPENCODE_PROVIDER = "tallygate";
