import type { Client, Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/client";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { ToolServer } from "../directory.ts";
import { ToolServerRefusal } from "../upstream/tool-server.ts";
import type { Connections } from "./connections.ts";

/** Cache time of a list, and timeout for reading it. */
const CACHED_MS = 30_000;
const LIST_MS = 10_000;
/** Pause after a failure, so that a server that is down does not slow down every list. */
const FAILED_MS = 5_000;
/** Limits of a list, in items and in characters of JSON; a longer list is not offered. */
const ITEMS_MAX = 2000;
const CHARACTERS_MAX = 4 * 1024 * 1024;

export type ServerItems = {
  tools: Tool;
  prompts: Prompt;
  resources: Resource;
  resourceTemplates: ResourceTemplateType;
};
export type ListKind = keyof ServerItems;

export type Lists = {
  /** The server's list; empty, with a log line, if the server fails. */
  of<Kind extends ListKind>(server: ToolServer, kind: Kind): Promise<readonly ServerItems[Kind][]>;
};

const READ: { [Kind in ListKind]: (client: Client) => Promise<readonly ServerItems[Kind][]> } = {
  tools: async (client) => (await client.listTools(undefined, options())).tools,
  prompts: async (client) => (await client.listPrompts(undefined, options())).prompts,
  resources: async (client) => (await client.listResources(undefined, options())).resources,
  resourceTemplates: async (client) =>
    (await client.listResourceTemplates(undefined, options())).resourceTemplates,
};

const options = () => ({ timeout: LIST_MS, cacheMode: "bypass" as const });

type Held = { server: ToolServer; untilMs: number; items: Promise<readonly unknown[]> };

/** Caches servers' whole lists for half a minute, the same for every key: agents read them at every start. */
export function openLists(connections: Connections, clock: Clock, log: Log): Lists {
  const held = new Map<string, Held>();

  async function read<Kind extends ListKind>(server: ToolServer, kind: Kind, name: string) {
    try {
      const of = { server, keyId: "", session: null };
      const items = await connections.use(of, (client) => READ[kind](client));
      if (items.length > ITEMS_MAX || JSON.stringify(items).length > CHARACTERS_MAX) {
        throw new Error("the list is too large");
      }
      return items;
    } catch (error) {
      const why = error instanceof ToolServerRefusal ? error.cause : error;
      log.warn({ ...errorFields(why), server: server.name, kind }, "a tool server's list was left out");
      const entry = held.get(name);
      if (entry) entry.untilMs = clock.monotonicMs() + FAILED_MS;
      return [];
    }
  }

  return {
    async of(server, kind) {
      const name = `${server.name}/${kind}`;
      const known = held.get(name);
      if (known && known.server === server && known.untilMs > clock.monotonicMs()) {
        return (await known.items) as readonly ServerItems[typeof kind][];
      }
      const items = Promise.resolve().then(() => read(server, kind, name));
      held.set(name, { server, untilMs: clock.monotonicMs() + CACHED_MS, items });
      return await items;
    },
  };
}
