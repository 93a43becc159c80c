import { Writable } from "node:stream";
import bunyan from "bunyan";
import { readGatewayConfig } from "#gateway/config.ts";
import { openGateway } from "#gateway/gateway.ts";
import type { Log } from "#shared/log.ts";
import { atEnd } from "./at-end.ts";
import { adminCall, type GatewayOptions, gatewaySettings } from "./gateway-process.ts";
import { freePort } from "./ports.ts";

export type LocalGateway = {
  url: string;
  databaseUrl: string;
  /** A call of the admin API below /admin/v1; throws on an answer that is not 2xx. */
  admin<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
  /** Everything that it has written to its log so far. */
  log(): string;
  /** Resolves once it has seen all that reached its sockets before, such as a client that left. */
  caughtUp(): Promise<void>;
  /** What SIGTERM does; it happens when the test or the file ends, too. */
  stop(): Promise<void>;
};

/**
 * The gateway in this process, on a port and a Postgres of its own: the same program as `startGateway` starts, for a tenth
 * of the processor time. Where signals, a crash, memory or file descriptors are the subject, use that one.
 */
export async function localGateway(options: GatewayOptions): Promise<LocalGateway> {
  const { ready, ...gateway } = await listeningGateway(options);
  await ready;
  return gateway;
}

/** The same as soon as it listens, whether or not its database is there; `ready` resolves once it has read that. */
export async function listeningGateway(
  options: GatewayOptions,
): Promise<LocalGateway & { ready: Promise<void> }> {
  const settings = await gatewaySettings(options);
  const port = freePort();
  const config = readGatewayConfig({
    PORT: String(port),
    LOG_LEVEL: "warn",
    // What still runs when a test ends is cut.
    DRAIN_SECONDS_MAX: "1",
    ...settings,
  });
  let lines = "";
  const stream = new Writable({
    write(line, _encoding, done) {
      lines += line;
      done();
    },
  });
  const log = bunyan.createLogger({ name: "gateway", level: config.logLevel, stream }) as Log;
  const gateway = await openGateway(config, log);
  const stop = atEnd(gateway.stop);
  await gateway.listen();
  const ready = gateway.databaseReady().then(gateway.startJobs);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    databaseUrl: settings.DATABASE_URL,
    ready,
    admin: (method, path, body) => adminCall(url, { method, path, body }),
    log: () => lines,
    caughtUp: async () => {
      // Two turns of its loop: in the first one the connection may come before what it is to be seen after.
      for (const _ of [1, 2])
        await fetch(`${url}/readyz`, { keepalive: false }).then((answer) => answer.text());
    },
    stop,
  };
}
