/** `bun gateway/deploy/healthcheck.ts`: ends with 0 if the gateway of this container is alive, else with 1. */
import { readPresent } from "#shared/env.ts";

const PORT_DEFAULT = "8787";
const WAIT_MS = 4_000;

const port = readPresent(["PORT"]).get("PORT") ?? PORT_DEFAULT;
const isAlive = await fetch(`http://127.0.0.1:${port}/healthz`, {
  signal: AbortSignal.timeout(WAIT_MS),
}).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(isAlive ? 0 : 1);
