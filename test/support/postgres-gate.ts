import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readAddress } from "#drizzle/database.ts";
import { atEnd } from "./at-end.ts";

export type PostgresGate = {
  /** The address of the database, through the gate. */
  url: string;
  /** Resets every connection and refuses new ones, as a dead server does. */
  shut(): Promise<void>;
  /** Leaves the connections that there are without a word for ever, as a lost route does; new ones work. */
  strand(): void;
  /** Says nothing on any connection, new ones included, until `thaw`: as a server whose processes are stopped. */
  freeze(): void;
  thaw(): void;
  /** Undoes `shut`. */
  open(): Promise<void>;
  close(): Promise<void>;
};

/** A relay before the test database at `url` that can behave like an absent or a hung Postgres. */
export async function postgresGate(url: string): Promise<PostgresGate> {
  const target = readAddress(url).socketPath ?? "";
  const directory = mkdtempSync(join(tmpdir(), "tg-gate-"));
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  let frozen = false;

  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    if (frozen) socket.pause();
  };
  const relay = (client: Socket) => {
    const backend = connect(target);
    for (const [from, to] of [
      [client, backend],
      [backend, client],
    ] as const) {
      track(from);
      from.on("data", (chunk) => to.write(chunk));
      from.on("close", () => to.destroy());
    }
  };
  const listen = async () => {
    const next = createServer(relay);
    await new Promise<void>((resolve) => next.listen(join(directory, ".s.PGSQL.5432"), resolve));
    server = next;
  };
  const shut = async () => {
    const closing = server;
    server = null;
    const closed = closing && new Promise((resolve) => closing.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen();
  return {
    url: url.replace(/host=[^&]*/, `host=${encodeURIComponent(directory)}`),
    shut,
    strand: () => {
      for (const socket of sockets) socket.removeAllListeners("data").pause();
    },
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    open: async () => {
      if (!server) await listen();
    },
    close: atEnd(async () => {
      await shut();
      rmSync(directory, { recursive: true, force: true });
    }),
  };
}
