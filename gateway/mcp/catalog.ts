import type { ClientKey, ToolServer } from "../directory.ts";
import type { ListKind, Lists, ServerItems } from "./lists.ts";
import type { Naming } from "./naming.ts";
import { mayCall, mayUseAll, mayUseServer } from "./permission.ts";

/** Items per page of a list. */
const PAGE = 1000;
const CURSOR = /^from:(\d{1,6})$/;

export type ToolCatalog = { lists: Lists; servers: readonly ToolServer[]; key: ClientKey; naming: Naming };

export const serversFor = (
  toolServers: ReadonlyMap<string, ToolServer>,
  key: ClientKey,
): readonly ToolServer[] => [...toolServers.values()].filter((server) => mayUseServer(key, server));

type Shown<Item> = (offer: ToolCatalog, server: ToolServer, item: Item) => Item | null;

/** Items under the names that clients use; null: the key may not use it. */
const SHOWN: { [Kind in ListKind]: Shown<ServerItems[Kind]> } = {
  tools: ({ key, naming }, server, tool) =>
    mayCall(key, server, tool.name) ? { ...tool, name: naming.name(server, tool.name) } : null,
  prompts: ({ key, naming }, server, prompt) =>
    mayUseAll(key, server) ? { ...prompt, name: naming.name(server, prompt.name) } : null,
  resources: ({ key, naming }, server, resource) =>
    mayUseAll(key, server) ? { ...resource, uri: naming.uri(server, resource.uri) } : null,
  resourceTemplates: ({ key, naming }, server, template) =>
    mayUseAll(key, server) ? { ...template, uriTemplate: naming.uri(server, template.uriTemplate) } : null,
};

/** All servers' items of a kind; a server that fails is left out. */
export async function offered<Kind extends ListKind>(
  offer: ToolCatalog,
  kind: Kind,
): Promise<ServerItems[Kind][]> {
  const shown: Shown<ServerItems[Kind]> = SHOWN[kind];
  const found = await Promise.all(
    offer.servers.map(async (server) =>
      (await offer.lists.of(server, kind))
        .map((item) => shown(offer, server, item))
        .filter((item) => item !== null),
    ),
  );
  return found.flat();
}

/** One page of a list and the next cursor; null for an invalid cursor. */
export function pageAt<T>(
  items: readonly T[],
  cursor: string | undefined,
): { items: T[]; next: { nextCursor?: string } } | null {
  const [, digits] = cursor === undefined ? [undefined, "0"] : (CURSOR.exec(cursor) ?? []);
  if (digits === undefined) return null;
  const end = Number(digits) + PAGE;
  return {
    items: items.slice(Number(digits), end),
    next: end < items.length ? { nextCursor: `from:${end}` } : {},
  };
}
