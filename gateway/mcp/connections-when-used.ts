import type { Clock } from "#shared/clock.ts";
import { once } from "#shared/once.ts";
import type { ToolServerFetch } from "../upstream/tool-server.ts";
import type { Connections } from "./connections.ts";

/** Loads the protocol's library with the first use: it is large, and many gateways have no tool servers. */
export function connectionsWhenUsed(ask: ToolServerFetch, clock: Clock): Connections {
  let used = false;
  const connections = once(async () => {
    used = true;
    return (await import("./connections.ts")).openConnections(ask, clock);
  });
  return {
    use: async (of, work) => (await connections()).use(of, work),
    speaks: async (server, era) => (await connections()).speaks(server, era),
    close: async () => {
      if (used) await (await connections()).close();
    },
  };
}
