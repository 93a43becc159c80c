import { eq } from "drizzle-orm";
import { mcpServers } from "#drizzle/schema/tools.ts";
import { readDecimal } from "#shared/admin/fields.ts";
import type { McpServerPatch, McpServerPut } from "#shared/admin/mcp-servers.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { picked } from "#shared/keys-of.ts";
import type { Log } from "#shared/log.ts";
import type { Secret, ToolServer } from "../../directory.ts";
import type { Reader } from "../change.ts";
import { type Edit, namedRows } from "../rows.ts";
import type { SealContext, Sealer } from "../seal.ts";

export type McpServerRow = typeof mcpServers.$inferSelect;

export const mcpServerRows = namedRows(mcpServers);

type McpServerEdit = Edit<McpServerRow, McpServerPut | McpServerPatch>;

/**
 * The edited row. A credential that the body omits is kept, unless the edit changes the address or the header: otherwise
 * an administrator who changes them could have the credential sent elsewhere.
 */
export function editedMcpServer(edit: McpServerEdit): McpServerRow {
  const { name, current, body, merge, now } = edit;
  const base = merge ? current : null;
  const next = {
    orgId: DEFAULT_ORG,
    name,
    url: body.url ?? base?.url ?? "",
    credentialHeader: given(body.credential_header, base?.credentialHeader),
    tools: body.tools ?? base?.tools ?? {},
    pricePerCall: given(money(body.price_per_call), base?.pricePerCall),
    prices: body.prices ? exactPrices(body.prices) : (base?.prices ?? {}),
    allowPrivateNetwork: body.allow_private_network ?? base?.allowPrivateNetwork ?? false,
    enabled: body.enabled ?? base?.enabled ?? true,
    createdAt: current?.createdAt ?? now.toISOString(),
    updatedAt: now.toISOString(),
  };
  return { ...next, credential: credentialOf(edit, next) };
}

const given = <T>(inBody: T | null | undefined, present: T | null | undefined): T | null =>
  inBody === undefined ? (present ?? null) : inBody;

const money = (amount: string | number | null | undefined): string | null | undefined =>
  amount === undefined ? undefined : readDecimal(amount);

const exactPrices = (prices: Readonly<Record<string, string | number>>): Record<string, string> =>
  Object.fromEntries(Object.entries(prices).map(([tool, amount]) => [tool, readDecimal(amount) ?? "0"]));

function credentialOf(
  { name, current, body, sealer }: McpServerEdit,
  next: Pick<McpServerRow, "url" | "credentialHeader">,
): string | null {
  if (typeof body.credential === "string") return sealer.seal(body.credential, belongingOf(name));
  const isSamePlace =
    current && current.url === next.url && current.credentialHeader === next.credentialHeader;
  return body.credential === undefined && isSamePlace ? current.credential : null;
}

/** The owner that a tool server's credential is sealed for. */
const belongingOf = (toolServer: string): SealContext => ({
  orgId: DEFAULT_ORG,
  toolServer,
  purpose: "tool_credential",
});

/** Null if there is none, or if it was sealed with another master key. */
export const openToolCredential = (
  { name, credential }: Pick<McpServerRow, "name" | "credential">,
  sealer: Sealer,
): Secret | null => (credential === null ? null : sealer.open(credential, belongingOf(name)));

/** The tool servers that are switched on, in the order of their names. */
export const selectToolServers = (reader: Reader): Promise<McpServerRow[]> =>
  mcpServerRows.all(reader, eq(mcpServers.enabled, true));

/** The same by name, with their credentials; without those whose credential this master key does not open. */
export const toolServersOf = (
  rows: readonly McpServerRow[],
  { sealer, log }: { sealer: Sealer; log: Log },
): Map<string, ToolServer> =>
  new Map(rows.flatMap((row) => toolServerOf(row, sealer, log) ?? []).map((server) => [server.name, server]));

function toolServerOf(row: McpServerRow, sealer: Sealer, log: Log): ToolServer | null {
  const credential = openToolCredential(row, sealer);
  if (row.credential !== null && credential === null) {
    log.error({ server: row.name }, "stored credential cannot be decrypted with this master key");
    return null;
  }
  return {
    ...picked(row, ["name", "url", "credentialHeader", "pricePerCall", "prices", "allowPrivateNetwork"]),
    credential,
    allow: row.tools.allow ?? null,
    deny: row.tools.deny ?? [],
  };
}
