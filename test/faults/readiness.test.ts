import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Embedded } from "#drizzle/embedded/supervisor.ts";
import { migrate } from "#drizzle/migrate.ts";
import { scratch, start } from "#test/support/embedded.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { HAS_PROC, postmasterOf, signalFamily } from "#test/support/processes.ts";
import { localGithubApp } from "#test/support/running-github-app.ts";
import { until } from "#test/support/until.ts";

// The pair on a Postgres of its own, all of whose processes can be made to hang.

const place = scratch();
let embedded: Embedded;
let gateway: GatewayProcess;
let app: Awaited<ReturnType<typeof localGithubApp>>;

beforeAll(async () => {
  embedded = await start(join(place.path, "data"));
  await migrate(embedded.url);
  gateway = await startGateway({ dataDir: join(place.path, "gateway"), databaseUrl: embedded.url });
  app = await localGithubApp({
    DATABASE_URL: embedded.url,
    WEBHOOK_SECRET: "a secret of more than sixteen characters",
  });
});

afterAll(async () => {
  await gateway.stop();
});

async function readiness(url: string) {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, body: await answer.json() };
}

test.if(HAS_PROC)(
  "a Postgres that hangs is told; the gateway goes on being ready, the App does not",
  async () => {
    await until(async () => (await readiness(gateway.url)).body.database === "reachable");
    const postmaster = await postmasterOf(embedded.data);
    signalFamily(postmaster, "SIGSTOP");
    try {
      const [ours, apps] = await Promise.all([readiness(gateway.url), readiness(app.url)]);
      expect(ours).toMatchObject({ status: 200, body: { status: "ready", database: "away" } });
      expect(apps).toMatchObject({ status: 503, body: { reason: "database" } });
    } finally {
      signalFamily(postmaster, "SIGCONT");
    }
    await until(async () => (await readiness(gateway.url)).body.database === "reachable");
    await until(async () => (await readiness(app.url)).status === 200);
  },
);

test.if(HAS_PROC)("beside a Postgres that hangs, a gateway stops by itself", async () => {
  const postmaster = await postmasterOf(embedded.data);
  signalFamily(postmaster, "SIGSTOP");
  try {
    // By then each round that runs beside the calls waits for an answer.
    await until(() => gateway.log().includes("directory cannot be read"));
    await gateway.stop();
  } finally {
    signalFamily(postmaster, "SIGCONT");
  }
});
