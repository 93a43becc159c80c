import { matchesGlob } from "#shared/glob.ts";
import type { ClientKey, ToolServer } from "../directory.ts";

/** Separates a server's name, which contains no underscore, from its tool's. */
const SEPARATOR = "__";

export const joinedName = (server: string, name: string): string => `${server}${SEPARATOR}${name}`;

/** The server and its own name for the tool, split at the first separator; null if there is none. */
export function splitName(joined: string): { server: string; own: string } | null {
  const at = joined.indexOf(SEPARATOR);
  return at <= 0 ? null : { server: joined.slice(0, at), own: joined.slice(at + SEPARATOR.length) };
}

type Scoped = Pick<ClientKey, "scopes">;

/** Whether the key may use all of the server, including its prompts and resources. */
export const mayUseAll = ({ scopes }: Scoped, { name }: Pick<ToolServer, "name">): boolean =>
  scopes.mcp === undefined || scopes.mcp.includes(name);

export const mayUseServer = (key: Scoped, server: Pick<ToolServer, "name">): boolean =>
  mayUseAll(key, server) ||
  (key.scopes.mcp ?? []).some((entry) => entry.startsWith(joinedName(server.name, "")));

/** Whether the tool exists for the key; the server's own lists apply to every key. */
export function mayCall(key: Scoped, server: ToolServer, tool: string): boolean {
  const isAmong = (globs: readonly string[]) => globs.some((glob) => matchesGlob(glob, tool));
  if (isAmong(server.deny) || (server.allow && !isAmong(server.allow))) return false;
  return mayUseAll(key, server) || (key.scopes.mcp ?? []).includes(joinedName(server.name, tool));
}

/** Whether a list of the server's tools may contain some that the key may not call. */
export const mayHideTools = (key: Scoped, server: ToolServer): boolean =>
  server.allow !== null || server.deny.length > 0 || !mayUseAll(key, server);
