import { createServer, connect as dial, type Socket } from "node:net";
import { readAddress } from "#drizzle/database.ts";

export type DatabaseProxy = {
  /** Address of the database through the proxy. */
  url: string;
  /** `open` passes everything, `hung` keeps connections and passes nothing, `gone` cuts and refuses them. */
  become(state: "open" | "hung" | "gone"): Promise<void>;
  close(): void;
};

/** Stands between a client and the test server, so that one client can see it hang or vanish while others go on. */
export async function databaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const { socketPath } = readAddress(databaseUrl);
  if (!socketPath) throw new Error("the test server listens on a socket file");
  const pairs = new Set<[Socket, Socket]>();
  let state: "open" | "hung" | "gone" = "open";
  const server = createServer((client) => {
    const upstream = dial(socketPath);
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.on("data", (bytes) => void to.write(bytes));
      from.on("close", () => {
        pairs.delete(pair);
        to.destroy();
      });
      from.on("error", () => to.destroy());
    }
    if (state === "hung") for (const socket of pair) socket.pause();
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  url.search = "";
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    url: url.href,
    async become(next) {
      if (next === "gone") server.close();
      if (next === "gone") cut();
      if (state === "gone" && next !== "gone") await listen(port);
      state = next;
      for (const socket of [...pairs].flat()) {
        if (next === "hung") socket.pause();
        if (next === "open") socket.resume();
      }
    },
    close() {
      cut();
      server.close();
    },
  };
}
