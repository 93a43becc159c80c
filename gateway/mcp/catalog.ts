import type { ClientKey, ToolServer } from "../directory.ts";
import type { ListKind, Lists, ServerItems } from "./lists.ts";
import type { Naming } from "./naming.ts";
import { mayCall, mayUseAll, mayUseServer } from "./permission.ts";

/** Items per page of a list. */
const PAGE = 1000;
const CURSOR = /^from:(\d{1,6})$/;

export type ToolCatalog = { lists: Lists; servers: readonly ToolServer[]; key: ClientKey; naming: Naming };

/** The servers of which the key may use at least a part. */
export const serversFor = (
  toolServers: ReadonlyMap<string, ToolServer>,
  key: ClientKey,
): readonly ToolServer[] => [...toolServers.values()].filter((server) => mayUseServer(key, server));

/** All servers' items under the names that clients use; a server that fails is left out. */
async function all<Kind extends ListKind>(
  { lists, servers }: ToolCatalog,
  kind: Kind,
  shown: (server: ToolServer, item: ServerItems[Kind]) => ServerItems[Kind] | null,
): Promise<ServerItems[Kind][]> {
  const found = await Promise.all(
    servers.map(async (server) =>
      (await lists.of(server, kind)).map((item) => shown(server, item)).filter((item) => item !== null),
    ),
  );
  return found.flat();
}

export const offeredTools = (offer: ToolCatalog) =>
  all(offer, "tools", (server, tool) =>
    mayCall(offer.key, server, tool.name) ? { ...tool, name: offer.naming.name(server, tool.name) } : null,
  );

export const offeredPrompts = (offer: ToolCatalog) =>
  all(offer, "prompts", (server, prompt) =>
    mayUseAll(offer.key, server) ? { ...prompt, name: offer.naming.name(server, prompt.name) } : null,
  );

export const offeredResources = (offer: ToolCatalog) =>
  all(offer, "resources", (server, resource) =>
    mayUseAll(offer.key, server) ? { ...resource, uri: offer.naming.uri(server, resource.uri) } : null,
  );

export const offeredTemplates = (offer: ToolCatalog) =>
  all(offer, "resourceTemplates", (server, template) =>
    mayUseAll(offer.key, server)
      ? { ...template, uriTemplate: offer.naming.uri(server, template.uriTemplate) }
      : null,
  );

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
