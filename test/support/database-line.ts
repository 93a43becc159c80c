import { connect, createServer, type Socket } from "node:net";
import { atEnd } from "./at-end.ts";

/** A line to a database that can be cut. */
export type DatabaseLine = {
  /** The database's address by way of the line. */
  url: string;
  /** Resets every connection, and each that comes. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
};

/** A proxy on a port of its own before a test database, which listens on a socket in the directory of `?host=`. */
export async function databaseLine(databaseUrl: string): Promise<DatabaseLine> {
  const url = new URL(databaseUrl);
  const path = `${url.searchParams.get("host")}/.s.PGSQL.5432`;
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    return socket;
  };
  const server = createServer((near) => {
    keep(near);
    if (isCut) return near.resetAndDestroy();
    const far = keep(connect({ path }));
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    near.pipe(far);
    far.pipe(near);
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url.host = `127.0.0.1:${address && typeof address === "object" ? address.port : 0}`;
  url.search = "";
  const resetAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: url.href,
    cut() {
      isCut = true;
      resetAll();
    },
    mend() {
      isCut = false;
    },
    close: atEnd(async () => {
      resetAll();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }),
  };
}
