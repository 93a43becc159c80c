import { createHash } from "node:crypto";
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { within } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { once } from "#shared/once.ts";
import { VERSION } from "#shared/version.ts";
import type { ToolServer } from "../directory.ts";
import { type ToolServerFetch, ToolServerRefusal } from "../upstream/tool-server.ts";

/** Connections kept, each with a session if its server uses sessions. */
const CONNECTIONS_MAX = 256;
const IDLE_MS = 300_000;
const CONNECT_MS = 10_000;
const ERA_CACHED_MS = 600_000;
const CLOSE_MS = 2_000;
const MODERN = "2026-07-28";
const SELF = { name: "tallygate", version: VERSION };

/** A connection serves one key's session: servers keep state in sessions. */
type ConnectionOf = { server: ToolServer; keyId: string; session: string | null };

type Connection = { client: Client; transport: StreamableHTTPClientTransport };
type Entry = { opened: Promise<Connection>; usedMs: number; users: number };

export type Connections = {
  /**
   * Runs `work` on a connection to the server, and reconnects once if its session has ended. Rejects as `work` does, with
   * `NotConnected` if nothing was sent, and with `ToolServerRefusal` if the server refuses the gateway.
   */
  use<T>(of: ConnectionOf, work: (client: Client) => Promise<T>): Promise<T>;
  /** Whether the server supports revisions of this era; tried, then cached for ten minutes. */
  speaks(server: ToolServer, era: Era): Promise<boolean>;
  close(): Promise<void>;
};

/** `legacy`: revisions that begin with `initialize`; `modern`: those with self-contained messages. */
export type Era = "legacy" | "modern";

/** The server could not be reached, or does not support the protocol. */
export class NotConnected extends Error {
  override readonly name = "NotConnected";
}

export function openConnections(ask: ToolServerFetch, clock: Clock): Connections {
  const entries = new Map<string, Entry>();

  const drop = (key: string, entry: Entry) => {
    if (entries.get(key) === entry) entries.delete(key);
    void entry.opened.then(ended, () => undefined);
  };
  const evictIdle = () => {
    const now = clock.monotonicMs();
    // In the order of last use, least recent first.
    for (const [key, entry] of entries) {
      const isOld = now - entry.usedMs > IDLE_MS;
      if (entry.users === 0 && (isOld || entries.size >= CONNECTIONS_MAX)) drop(key, entry);
      else if (!isOld && entries.size < CONNECTIONS_MAX) return;
    }
  };
  const entryOf = (key: string, server: ToolServer): Entry => {
    const known = entries.get(key);
    if (known) entries.delete(key);
    else evictIdle();
    const entry = known ?? { opened: connected(ask, server), usedMs: 0, users: 0 };
    entries.set(key, entry);
    entry.usedMs = clock.monotonicMs();
    return entry;
  };

  async function once<T>(of: ConnectionOf, work: (client: Client) => Promise<T>): Promise<T> {
    const key = keyOf(of);
    const entry = entryOf(key, of.server);
    entry.users++;
    try {
      const { client } = await entry.opened.catch((cause) => {
        throw new NotConnected("The tool server could not be reached.", { cause });
      });
      return await work(client);
    } catch (error) {
      const refusal = refusalIn(error);
      if (refusal || error instanceof NotConnected || hasEnded(error)) drop(key, entry);
      throw refusal ?? error;
    } finally {
      entry.users--;
    }
  }

  return {
    speaks: eraSupport(ask, clock),
    async use(of, work) {
      try {
        return await once(of, work);
      } catch (error) {
        // The server did not process the message: it no longer knows the session.
        if (hasEnded(error)) return await once(of, work);
        throw error;
      }
    },
    async close() {
      const all = [...entries.values()];
      entries.clear();
      const goodbyes = all.map(({ opened }) => opened.then(ended, () => undefined));
      await within(CLOSE_MS, Promise.all(goodbyes)).catch(() => undefined);
    },
  };
}

/** The refusal behind an error of the client library, if any. */
function refusalIn(error: unknown): ToolServerRefusal | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ToolServerRefusal) return cause;
  }
  return null;
}

const hasEnded = (error: unknown): boolean => error instanceof SdkHttpError && error.status === 404;

/** A changed address or credential gets a new connection. */
function keyOf({ server, keyId, session }: ConnectionOf): string {
  const place = [
    server.url,
    server.credential?.reveal(),
    server.credentialHeader,
    server.allowPrivateNetwork,
  ];
  const digest = createHash("sha256").update(JSON.stringify(place)).digest("base64");
  return JSON.stringify([server.name, digest, keyId, session]);
}

function eraSupport(ask: ToolServerFetch, clock: Clock): Connections["speaks"] {
  const tried = new Map<string, { speaks: Promise<boolean>; untilMs: number }>();
  return (server, era) => {
    const name = JSON.stringify([keyOf({ server, keyId: "", session: null }), era]);
    const known = tried.get(name);
    if (known && known.untilMs > clock.monotonicMs()) return known.speaks;
    const speaks = supportsEra(ask, server, era).catch(() => {
      tried.delete(name);
      // Its answer tells the client what is wrong.
      return true;
    });
    if (tried.size >= CONNECTIONS_MAX) tried.clear();
    tried.set(name, { speaks, untilMs: clock.monotonicMs() + ERA_CACHED_MS });
    return speaks;
  };
}

/** Rejects if the server's answer does not show it. */
async function supportsEra(ask: ToolServerFetch, server: ToolServer, era: Era): Promise<boolean> {
  try {
    await ended(await connected(ask, server, era === "legacy" ? "legacy" : { pin: MODERN }));
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ProtocolError ||
  (error instanceof SdkHttpError && error.status < 500) ||
  (error instanceof SdkError &&
    error.code === SdkErrorCode.EraNegotiationFailed &&
    error.cause === undefined);

async function connected(ask: ToolServerFetch, server: ToolServer, mode: VersionNegotiationMode = "auto") {
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: (_, init) => asked(ask, server, init ?? {}),
    redirectPolicy: "same-origin",
  });
  const client = new Client(SELF, {
    capabilities: {},
    versionNegotiation: { mode },
    inputRequired: { autoFulfill: false },
  });
  client.onerror = () => undefined;
  await client.connect(transport, { timeout: CONNECT_MS });
  return { client, transport };
}

/** Messages that a server sends outside a call have no receiver here; the rest of a call's answer may be fetched. */
async function asked(ask: ToolServerFetch, server: ToolServer, init: RequestInit): Promise<Response> {
  const method = init.method ?? "GET";
  const headers = new Headers(init.headers);
  if (method === "GET" && !headers.has("last-event-id")) return new Response(null, { status: 405 });
  return await ask(server, { method, headers, body: init.body ?? null, signal: init.signal ?? null });
}

async function ended({ client, transport }: Connection): Promise<void> {
  await transport.terminateSession().catch(() => undefined);
  await client.close().catch(() => undefined);
}

/** Loads the protocol's library with the first use: it is large, and many gateways have no tool servers. */
export function connectionsWhenUsed(ask: ToolServerFetch, clock: Clock): Connections {
  let used = false;
  const connections = once(async () => {
    used = true;
    return (await import("./connections.ts")).openConnections(ask, clock);
  });
  return {
    use: async (of, work) => (await connections()).use(of, work),
    speaks: async (server, era) => (await connections()).speaks(server, era),
    close: async () => {
      if (used) await (await connections()).close();
    },
  };
}
