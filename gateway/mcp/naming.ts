import type { ToolServer } from "../directory.ts";
import { joinedName, splitName } from "./permission.ts";

type Named = Pick<ToolServer, "name">;

/** How clients name what servers have, and back. */
export type Naming = {
  name(server: Named, own: string): string;
  uri(server: Named, own: string): string;
  /** The server's name, and its own name for the thing; null for what is no name here. */
  splitName(told: string): { server: string; own: string } | null;
  splitUri(told: string): { server: string; own: string } | null;
};

/** `server__tool`, and `server+` before a resource's own address, as a scheme of its own. */
export const JOINED: Naming = {
  name: (server, own) => joinedName(server.name, own),
  uri: (server, own) => `${server.name}+${own}`,
  splitName,
  splitUri(told) {
    const at = told.indexOf("+");
    return at <= 0 ? null : { server: told.slice(0, at), own: told.slice(at + 1) };
  },
};

/** The names of the one server, as they are. */
export function ownNames({ name }: Named): Naming {
  const split = (told: string) => ({ server: name, own: told });
  return { name: (_, own) => own, uri: (_, own) => own, splitName: split, splitUri: split };
}
