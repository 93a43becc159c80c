import { McpServerBody, McpServerPatch, McpServerView } from "#shared/admin/mcp-servers.ts";
import { viewAs } from "#shared/view-as.ts";
import { refuse } from "../errors.ts";
import { lastFour } from "../stores/seal.ts";
import {
  editedMcpServer,
  type McpServerRow,
  mcpServerRows,
  openToolCredential,
} from "../stores/tools/mcp-servers.ts";
import type { AdminDeps } from "./deps.ts";
import { namedResource } from "./named-resource.ts";

/** `/admin/v1/mcp-servers`: the servers whose tools `/mcp` offers, and their credentials. */
export const adminMcpServers = (deps: AdminDeps) =>
  namedResource(deps, {
    path: "mcp-servers",
    tag: "mcp-servers",
    nouns: { one: "a tool server", many: "tool servers" },
    words: {
      create: {
        summary: "Register a tool server",
        description:
          "A server of the Model Context Protocol over streamable HTTP, of any revision from 2025-06-18 on. Its tools appear at /mcp as `server__tool`, and at /mcp/{name} under their own names.",
      },
      put: {
        summary: "Register or replace a tool server",
        description:
          "Missing fields get their defaults. The credential stays, unless the address or the header changes.",
      },
      patch: {
        description: "A new `url` or `credential_header` clears the credential, unless you send one with it.",
      },
    },
    schemas: {
      body: McpServerBody,
      patch: McpServerPatch,
      view: McpServerView,
    },
    store: mcpServerRows,
    audit: {
      set: "mcp_server.set",
      deleted: "mcp_server.deleted",
      secrets: (row, { sealer }) => ({ credential: lastFour(openToolCredential(row, sealer)) }),
    },
    made: (edit, { sealer }) => editedMcpServer({ ...edit, merge: false, sealer }),
    patched: (edit, { sealer }) => editedMcpServer({ ...edit, merge: true, sealer }),
    checkRow: requireSafe,
    view: (row) => viewAs(McpServerView, { ...row, hasCredential: row.credential !== null }),
  });

/** Headers of the protocol's own, and those that decide how the connection works. */
const RESERVED_HEADER =
  /^(mcp-.*|accept|accept-encoding|content-type|content-length|host|transfer-encoding|connection|upgrade|te|trailer|expect|last-event-id|cookie|set-cookie|proxy-.*)$/i;

async function requireSafe(row: McpServerRow, deps: AdminDeps): Promise<void> {
  if (row.credentialHeader !== null && RESERVED_HEADER.test(row.credentialHeader))
    refuse("/credential_header: This header is set by the gateway.");
  const fault = await deps.addressGuard.saveFault(row.url, row.allowPrivateNetwork);
  if (fault !== null) refuse(`/url: ${fault}.`);
}
