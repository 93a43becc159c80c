import { agentGateway, isHttpUrl, loginFor } from "../client/settings.ts";
import type { Checkout, Gateway } from "./agent.ts";
import { AGENT_NAMES, AGENTS } from "./agents.ts";
import { HOMES } from "./homes.ts";
import { HOOK_AGENT } from "./variables.ts";

/**
 * The gateway of the surrounding agent: the one that `TALLYGATE_URL` and `TALLYGATE_KEY` name, else the one of the agent
 * whose hook this is, else the first one that a user's settings of an agent name together with a client key, else the
 * one of `tallygate login`.
 */
export async function agentsGateway(place: Checkout): Promise<Gateway | null> {
  const named = agentGateway();
  if (named) return named;
  const runner = HOMES.env(HOOK_AGENT);
  const own = AGENT_NAMES.filter((name) => name === runner).map((name) =>
    AGENTS[name].settings(HOMES, place),
  );
  for (const read of [...own, ...AGENT_NAMES.map((name) => AGENTS[name].settings(HOMES, null))]) {
    const { address, key } = await read;
    if (address !== null && key !== null && isHttpUrl(address)) return { url: gatewayOf(address), key };
  }
  const login = loginFor(undefined);
  return login && { url: login.url, key: login.key };
}

/** The gateway's address in an agent's base URL, which may name the path of an API. */
export const gatewayOf = (address: string): string =>
  address.replace(/\/+$/, "").replace(/\/v1(?:beta)?$/, "");
