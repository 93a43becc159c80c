import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Counter, Gauge, Registry } from "prom-client";
import { openDatabase } from "#drizzle/database.ts";
import { type Clock, systemClock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import { githubAppKey } from "#shared/master-key.ts";
import type { GatewayAppDeps } from "./app.ts";
import { type GatewayConfig, readProviderKeys } from "./config.ts";
import type { Directory } from "./directory.ts";
import { GatewayError } from "./errors.ts";
import { type BodyBudget, bodyBudget } from "./http/body-budget.ts";
import { openConnections } from "./mcp/connections.ts";
import { openLists } from "./mcp/lists.ts";
import { runningToolCalls } from "./mcp/running-tool-calls.ts";
import { type AdminKeyCheck, adminKeyCheck, adminSecretCheck, requireAdminKey } from "./plugins/admin-key.ts";
import { authenticate, type CallerCheck, type KeyLookup } from "./plugins/client-key.ts";
import { openRefusals } from "./plugins/refusals.ts";
import { type PriceBook, priceBook } from "./pricing/price-book.ts";
import { PROVIDERS } from "./providers/catalog.ts";
import { startRecorder } from "./recorder/recorder.ts";
import { withMetrics } from "./recorder/recorder-metrics.ts";
import { openAgentMetrics } from "./stores/agent-metrics.ts";
import { openBodyCapture } from "./stores/bodies.ts";
import { bootstrap } from "./stores/bootstrap.ts";
import { openClassifier } from "./stores/classifier/classifier.ts";
import { classifyCall } from "./stores/classifier/classify-call.ts";
import { openDirectory } from "./stores/directory/directory.ts";
import { openOwnership } from "./stores/foreign-ids.ts";
import { openKeptAnswers } from "./stores/kept-answers.ts";
import { openLimiter } from "./stores/limits/limiter.ts";
import { reportWriter } from "./stores/reports/report-worker.ts";
import { findSavedReports } from "./stores/reports/saved-reports.ts";
import { createSealer } from "./stores/seal.ts";
import { withStoreErrors } from "./stores/store-errors.ts";
import { createCalloutClient } from "./upstream/callout.ts";
import { drainPool } from "./upstream/drain.ts";
import { hostedSender } from "./upstream/hosted/hosted.ts";
import { createOutboundFetch, type OutboundFetch } from "./upstream/outbound-fetch.ts";
import { createProviderApi } from "./upstream/provider-api.ts";
import { createSender } from "./upstream/send.ts";
import { addressGuard } from "./upstream/ssrf.ts";
import { createToolServerFetch } from "./upstream/tool-server.ts";
import { startWatchdog } from "./upstream/watchdog.ts";

/** How long a report waits for the records of calls that have just ended. */
const SETTLED_MAX_MS = 1000;
/** Connections for administrators' queries; model calls never wait for them. */
const CONTROL = { name: "control", max: 4, statementTimeoutMs: 10_000 };

/** The server once it listens, which knows the callers' addresses. */
type Listener = { server: { requestIP(request: Request): { address: string } | null } | null };

const addressIn = (listener: Listener) => (request: Request) =>
  listener.server?.requestIP(request)?.address ?? null;

export type OpenedDeps = {
  deps: GatewayAppDeps & { reach: OutboundFetch; listener: Listener };
  close(): Promise<void>;
};

/** Opens all dependencies of the gateway: the spool first, then Postgres. */
export async function openDeps(config: GatewayConfig, log: Log): Promise<OpenedDeps> {
  const clock = systemClock;
  const metrics = new Registry();
  const recorder = withMetrics(
    await startRecorder({ ...config.spool, databaseUrl: config.databaseUrl, log, clock }),
    metrics,
  );
  const stores = await openStores(config, clock, log);
  const { database, directory, classifier, limiter, bodies, keptAnswers: kept } = stores;
  const watchdog = startWatchdog(clock);
  const writer = reportWriter(reportPlaces(config), { log, clock });
  const agentMetrics = openAgentMetrics(config.databaseUrl);
  const guard = addressGuard(clock, { proxied: config.proxied });
  const reach = createOutboundFetch(guard);
  const tools = toolClients({ clock, log, watchdog, reach });

  const deps: OpenedDeps["deps"] = {
    ...stores,
    clock,
    log,
    metrics,
    classify: classifyCall(classifier),
    recorder,
    watchdog,
    lifecycle: { stopping: false },
    prices: pricesOf(directory),
    drains: drainPool(),
    addressGuard: guard,
    reach,
    ...providerClients({ clock, log, watchdog, reach }),
    ...tools,
    guardrailTriggered: guardrailCounter(metrics),
    reportWriter: writer,
    savedReports: (ids) => withStoreErrors(() => findSavedReports(database.db, ids)),
    agentMetrics,
    reconciling: new Map(),
    settled: (hurry?: boolean) => recorder.flushed(SETTLED_MAX_MS, hurry).catch(() => undefined),
    ...openOwnership(database, log),
    bodyBudget: meteredBodyBudget(config.bodiesBytesMax, metrics),
    ...accessOf(config, directory, { clock, log, metrics }),
  };
  const close = async () => {
    watchdog.close();
    classifier.close();
    await tools.connections.close();
    await recorder.close(5000);
    await limiter.close();
    await Promise.all([directory, writer, agentMetrics, bodies, kept].map((opened) => opened.close()));
    await database.close();
  };
  return { deps, close };
}

function meteredBodyBudget(bytesMax: number, registry: Registry): BodyBudget {
  const budget = bodyBudget(bytesMax);
  new Gauge({
    name: "tallygate_body_bytes_in_flight",
    help: "Memory that the bodies of requests in flight take.",
    registers: [registry],
    collect() {
      this.set(budget.used());
    },
  });
  return budget;
}

/** Reports read from the replica if there is one. */
const reportPlaces = ({ databaseUrl, reportsDatabaseUrl }: GatewayConfig) => ({
  url: reportsDatabaseUrl ?? databaseUrl,
  mainUrl: databaseUrl,
});

/** Opens Postgres, bootstraps it, and opens everything that reads or writes it. */
async function openStores(config: GatewayConfig, clock: Clock, log: Log) {
  const { databaseUrl, masterKey } = config;
  const providerKeys = readProviderKeys(environmentNames());
  const database = openDatabase(databaseUrl, CONTROL);
  await bootstrap({ database, providerKeys, keepFirstKey: keeperOfFirstKey(config), clock, log });
  const directory = await openDirectory({ database, masterKey, providerKeys, clock, log });
  const sealer = createSealer(masterKey);
  return {
    database,
    providerKeys,
    directory,
    sealer,
    setupKey: githubAppKey(masterKey),
    classifier: await openClassifier({ directory, database, clock, log }),
    limiter: await openLimiter({ databaseUrl, clock, log }),
    bodies: openBodyCapture({ database, sealer, clock, log }),
    keptAnswers: openKeptAnswers({ database, sealer, clock, log }),
  };
}

const keeperOfFirstKey =
  ({ dataDirectory }: GatewayConfig) =>
  (secret: string) =>
    writeFile(join(dataDirectory, "first-key"), `${secret}\n`, { mode: 0o600 });

type OutwardDeps = Pick<GatewayAppDeps, "clock" | "log" | "watchdog"> & { reach: OutboundFetch };

/** Clients for providers and for guardrail callouts. */
function providerClients({ clock, log, watchdog, reach }: OutwardDeps) {
  return {
    send: hostedSender(createSender(reach, clock), { clock, reach }),
    consult: createCalloutClient(reach, log),
    providerApi: createProviderApi({ reach, clock, watchdog }),
  };
}

/** Clients for tool servers. */
function toolClients({ clock, log, watchdog, reach }: OutwardDeps) {
  const askToolServer = createToolServerFetch({ reach, clock, watchdog });
  const connections = openConnections(askToolServer, clock);
  const lists = openLists(connections, clock, log);
  return { askToolServer, connections, lists, running: runningToolCalls() };
}

/** Limits and authorization from the settings. */
function accessOf(
  { adminKey, metricsPublic, publicUrl, bytesMax, allowedHosts, refusalsPerMinute }: GatewayConfig,
  keys: KeyLookup,
  common: { clock: Clock; log: Log; metrics: Registry },
) {
  const listener: Listener = { server: null };
  const addressOf = addressIn(listener);
  const refusals = openRefusals({ ...common, addressOf, perMinuteMax: refusalsPerMinute });
  const isAdmin = adminKeyCheck(adminKey);
  const callers: CallerCheck = {
    keyOf: (digest) => keys.keyOf(digest),
    isAdminKey: adminSecretCheck(adminKey),
    refusals,
  };
  return {
    listener,
    isAdmin,
    refusals,
    callers,
    publicUrl,
    bytesMax,
    allowedHosts,
    authorizeReports: (request: Request) => authorizeReports(isAdmin, callers, request),
    authorizeMetrics: async (request: Request) => {
      if (!metricsPublic) requireAdminKey({ isAdmin, refusals }, request);
    },
  };
}

const environmentNames = (): string[] =>
  Object.values(PROVIDERS).flatMap(({ envKey }) => (envKey === null ? [] : [envKey]));

/** The label is safe as a metric label: rule names are set by administrators, not by clients. */
function guardrailCounter(registry: Registry): GatewayAppDeps["guardrailTriggered"] {
  const held = new Counter({
    name: "tallygate_guardrail_held_total",
    help: "Calls for which a guardrail held.",
    labelNames: ["guardrail", "outcome"],
    registers: [registry],
  });
  return (guardrail, outcome) => held.inc({ guardrail, outcome });
}

/** The price book of the current directory, rebuilt only when its prices change. */
function pricesOf(directory: { current(): Directory }): () => PriceBook {
  let overrides: Directory["prices"] | null = null;
  let book = priceBook([], PROVIDERS);
  return () => {
    const { prices } = directory.current();
    if (prices !== overrides) [overrides, book] = [prices, priceBook(prices, PROVIDERS)];
    return book;
  };
}

/** Reports are open to the admin key and to client keys with `scopes.reports`. */
async function authorizeReports(
  isAdmin: AdminKeyCheck,
  callers: CallerCheck,
  request: Request,
): Promise<void> {
  if (isAdmin(request.headers)) return;
  const { key } = await authenticate(callers, request);
  if (key.scopes.reports !== true) throw new GatewayError("reports_not_allowed");
}
