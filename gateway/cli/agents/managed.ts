import { KEY_VARIABLE, SESSION_VARIABLE } from "./variables.ts";

// What files say that an administrator puts on an organisation's machines. There, the program is on the PATH.

/** Seconds that an agent waits for the gateway before it continues without an answer. */
export const REPORT_SECONDS = 5;

/** How a machine gets a key: the end of a sentence. */
export const KEY_OR_LOGIN = `${KEY_VARIABLE} holds a client key, or its user has run \`tallygate login\``;

export const keyCommandAt = (url: string): string[] => ["tallygate", "key", "--url", url];

const baseOf = (url: string) => url.replace(/\/+$/, "");
/** Where agents' hooks report tool calls. */
export const hooksUrl = (url: string) => `${baseOf(url)}/hooks/v1/events`;

/**
 * A command for agents with command hooks: it forwards its standard input to the gateway, and the answer to the agent.
 * Without a key in the environment it asks for the one of `tallygate login`. It fails silently, so that an unreachable
 * gateway blocks no one.
 */
export const forwarder = (url: string, client: string): string =>
  `curl -sf -m ${REPORT_SECONDS - 1} --data-binary @- -H "content-type: application/json" ` +
  `-H "x-gateway-key: \${${KEY_VARIABLE}:-$(tallygate key --url ${baseOf(url)} 2>&-)}" ` +
  `-H "x-client: ${client}" -H "x-session-id: $${SESSION_VARIABLE}" ` +
  `${hooksUrl(url)} || true`;
