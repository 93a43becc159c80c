import type { ToolServer } from "../directory.ts";
import { joinedName, splitName } from "./permission.ts";

type Named = Pick<ToolServer, "name">;

/** Maps servers' names to those that clients use, and back. */
export type Naming = {
  name(server: Named, own: string): string;
  uri(server: Named, own: string): string;
  /** The server, and its own name for the item; null for an unknown name. */
  splitName(told: string): { server: string; own: string } | null;
  splitUri(told: string): { server: string; own: string } | null;
};

/** `server__tool`, and `server+` before a resource's own URI, forming a scheme of its own. */
export const JOINED: Naming = {
  name: (server, own) => joinedName(server.name, own),
  uri: (server, own) => `${server.name}+${own}`,
  splitName,
  splitUri(told) {
    const at = told.indexOf("+");
    return at <= 0 ? null : { server: told.slice(0, at), own: told.slice(at + 1) };
  },
};

/** A single server's names, unchanged. */
export function ownNames({ name }: Named): Naming {
  const split = (told: string) => ({ server: name, own: told });
  return { name: (_, own) => own, uri: (_, own) => own, splitName: split, splitUri: split };
}
