import type { ClientKey, ToolServer } from "../directory.ts";
import type { Listed, ListKind, Lists } from "./lists.ts";
import type { Naming } from "./naming.ts";
import { mayCall, mayUseAll, mayUseServer } from "./permission.ts";

/** Items on a page of a list. */
const PAGE = 1000;
const CURSOR = /^from:(\d{1,6})$/;

export type Offer = { lists: Lists; servers: readonly ToolServer[]; key: ClientKey; naming: Naming };

/** The servers of which the key may use anything. */
export const serversFor = (
  toolServers: ReadonlyMap<string, ToolServer>,
  key: ClientKey,
): readonly ToolServer[] => [...toolServers.values()].filter((server) => mayUseServer(key, server));

/** All servers' items under the names that clients know them by; one that does not answer empties no list. */
async function all<Kind extends ListKind>(
  { lists, servers }: Offer,
  kind: Kind,
  shown: (server: ToolServer, item: Listed[Kind]) => Listed[Kind] | null,
): Promise<Listed[Kind][]> {
  const found = await Promise.all(
    servers.map(async (server) =>
      (await lists.of(server, kind)).map((item) => shown(server, item)).filter((item) => item !== null),
    ),
  );
  return found.flat();
}

export const offeredTools = (offer: Offer) =>
  all(offer, "tools", (server, tool) =>
    mayCall(offer.key, server, tool.name) ? { ...tool, name: offer.naming.name(server, tool.name) } : null,
  );

export const offeredPrompts = (offer: Offer) =>
  all(offer, "prompts", (server, prompt) =>
    mayUseAll(offer.key, server) ? { ...prompt, name: offer.naming.name(server, prompt.name) } : null,
  );

export const offeredResources = (offer: Offer) =>
  all(offer, "resources", (server, resource) =>
    mayUseAll(offer.key, server) ? { ...resource, uri: offer.naming.uri(server, resource.uri) } : null,
  );

export const offeredTemplates = (offer: Offer) =>
  all(offer, "resourceTemplates", (server, template) =>
    mayUseAll(offer.key, server)
      ? { ...template, uriTemplate: offer.naming.uri(server, template.uriTemplate) }
      : null,
  );

/** One page of a list, and the cursor of the next; null for a cursor that no page gave. */
export function pageOf<T>(
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
