import type { Client, Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/client";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { ToolServer } from "../directory.ts";
import { ToolServerRefusal } from "../upstream/tool-server.ts";
import type { Connections } from "./connections.ts";

/** How long a list is believed, and how long a server may take for it. */
const BELIEVED_MS = 30_000;
const LIST_MS = 10_000;
/** After a failure the server is not asked again for as long: one that is dead must not slow every list. */
const FAILED_MS = 5_000;
/** What a server may list, in items and in characters of JSON; of one that lists more nothing is shown. */
const ITEMS_MAX = 2000;
const CHARACTERS_MAX = 4 * 1024 * 1024;

export type Listed = {
  tools: Tool;
  prompts: Prompt;
  resources: Resource;
  resourceTemplates: ResourceTemplateType;
};
export type ListKind = keyof Listed;

export type Lists = {
  /** What the server lists; empty, and said in the log, where it does not answer. */
  of<Kind extends ListKind>(server: ToolServer, kind: Kind): Promise<readonly Listed[Kind][]>;
};

const READ: { [Kind in ListKind]: (client: Client) => Promise<readonly Listed[Kind][]> } = {
  tools: async (client) => (await client.listTools(undefined, options())).tools,
  prompts: async (client) => (await client.listPrompts(undefined, options())).prompts,
  resources: async (client) => (await client.listResources(undefined, options())).resources,
  resourceTemplates: async (client) =>
    (await client.listResourceTemplates(undefined, options())).resourceTemplates,
};

const options = () => ({ timeout: LIST_MS, cacheMode: "bypass" as const });

type Held = { server: ToolServer; untilMs: number; items: Promise<readonly unknown[]> };

/** Servers' lists, whole, remembered for half a minute: agents ask for them at every start. The same for every key. */
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
      log.warn({ ...errorFields(why), server: server.name, kind }, "a tool server's list is left out");
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
        return (await known.items) as readonly Listed[typeof kind][];
      }
      const items = Promise.resolve().then(() => read(server, kind, name));
      held.set(name, { server, untilMs: clock.monotonicMs() + BELIEVED_MS, items });
      return await items;
    },
  };
}
