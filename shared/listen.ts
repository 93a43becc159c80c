import { createServer } from "node:net";
import { steerConnections } from "./steer-connections.ts";

/** The error code with which listening on `host:port` fails (`EADDRINUSE`, `EACCES`, …), or null. */
export function portFault(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve("code" in error ? String(error.code) : "an error"));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** Part of a process's start; the launcher decides both. */
export type Handover = {
  /** Whether the port may be shared with a process that this one replaces, or that will replace it. */
  sharesPort: boolean;
  /** Whether `processes` processes that are to be replaced have the port now. */
  takesOver: boolean;
  /** How many processes are to share the port when none is being replaced. */
  processes: number;
};

type Address = { hostname: string; port: number };

/**
 * Listens. Processes of one launcher share the port while some replace the others. Unrelated processes never share it:
 * each checks the port first, or its launcher does. Successors get all new connections at once, and none is lost when
 * the others stop.
 * @throws Error if the port is taken.
 */
export async function listenOn(
  { hostname, port }: Address,
  { sharesPort, takesOver, processes }: Handover,
  listen: (options: Address & { reusePort: boolean }) => void,
): Promise<void> {
  if (sharesPort && !takesOver && processes === 1) {
    const fault = await portFault(hostname, port);
    if (fault !== null) throw new Error(`Port ${port} of ${hostname} cannot be used: ${fault}.`);
  }
  listen({ hostname, port, reusePort: sharesPort });
  if (takesOver) steerConnections(port, { first: processes, count: processes });
}

/**
 * Call before a process closes the port to which the others of `processes` have been replaced. Sockets move up when one
 * before them closes; the first successor's then takes the place of the last replaced one, or a later one.
 */
export function leavePort(port: number, { processes }: Pick<Handover, "processes">): void {
  if (processes > 1) steerConnections(port, { first: processes, count: 1 });
}
