import { Registry } from "prom-client";
import { within } from "#drizzle/database.ts";
import { type Clock, systemClock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { githubAppKey } from "#shared/master-key.ts";
import { processMetrics } from "#shared/process-metrics.ts";
import type { GatewayAppDeps } from "./app.ts";
import { pagesDirectories } from "./cli/own-program.ts";
import type { GatewayConfig } from "./config.ts";
import type { Directory } from "./directory.ts";
import { guardrailCounter } from "./guardrail/guardrail-metrics.ts";
import { meteredBodyBudget } from "./http/body-budget.ts";
import { addressIn, closerOf, type Listener } from "./http/listener.ts";
import { authorizeMetrics, authorizeReports, noteExport } from "./identity/authorize.ts";
import { issuersOf, type Ways } from "./identity/elsewhere/ways.ts";
import { openIdentity } from "./identity/open-identity.ts";
import { connectionsWhenUsed } from "./mcp/connections.ts";
import { openLists } from "./mcp/lists.ts";
import { runningToolCalls } from "./mcp/running-tool-calls.ts";
import { adminSecretCheck } from "./plugins/admin-key.ts";
import type { CallerCheck, KeyLookup } from "./plugins/client-key.ts";
import { openRefusals } from "./plugins/refusals.ts";
import { type PriceBook, priceBook } from "./pricing/price-book.ts";
import { PROVIDERS } from "./providers/catalog.ts";
import { startRecorder } from "./recorder/recorder.ts";
import { withMetrics } from "./recorder/recorder-metrics.ts";
import { openAgentMetrics } from "./stores/agent-metrics.ts";
import { classifyCall } from "./stores/classifier/classify-call.ts";
import { openOwnership } from "./stores/foreign-ids.ts";
import { openReporting } from "./stores/reports/open-reporting.ts";
import { findSavedReports } from "./stores/reports/saved-reports.ts";
import { withStoreErrors } from "./stores/store-errors.ts";
import { openStores } from "./stores/stores.ts";
import type { Lifecycle } from "./surfaces/health.ts";
import { openTelemetry, withTelemetry } from "./telemetry/open-telemetry.ts";
import { createCalloutClient } from "./upstream/callout.ts";
import { meteredDeployments } from "./upstream/deployments.ts";
import { drainPool } from "./upstream/drain.ts";
import { hostedSender } from "./upstream/hosted/hosted.ts";
import { openInFlight } from "./upstream/in-flight.ts";
import { learnedWires } from "./upstream/learned-wires.ts";
import { createOutboundFetch, type OutboundFetch } from "./upstream/outbound-fetch.ts";
import { createOutboundSocket } from "./upstream/outbound-socket.ts";
import { createProviderApi } from "./upstream/provider-api.ts";
import { createSender } from "./upstream/send.ts";
import { addressGuard } from "./upstream/ssrf.ts";
import { createToolServerFetch } from "./upstream/tool-server.ts";
import { startWatchdog } from "./upstream/watchdog.ts";
import { asOneGateway } from "./workers/as-one.ts";

/** How long a stop waits for Postgres to take the records of the spool and to end the rounds, and then for the rest. */
const CLOSE_MS = 5000;
/** How long the limits wait after an outage for its records before they look again. */
const RECORDED_MAX_MS = 60_000;

export type OpenedDeps = {
  deps: GatewayAppDeps & { reach: OutboundFetch; listener: Listener };
  /** Resolves when calls could be served, maybe without the database. */
  warmed: Promise<void>;
  /** Reads the database, which must be migrated; from then on administration and reports work too. */
  begin(): Promise<void>;
  close(jobsOver?: Promise<void>): Promise<void>;
};

/** Opens all dependencies of the gateway: the spool first. Postgres may be away. */
export async function openDeps(config: GatewayConfig, log: Log): Promise<OpenedDeps> {
  const clock = systemClock;
  const metrics = new Registry();
  const { recorder, telemetry, order } = await openRecorder(config, { clock, log, metrics });
  const told = { order, recorded: () => recorder.flushed(RECORDED_MAX_MS) };
  const opened = openStores({ ...config, ...told, issuers: issuersOf(config.waysIn), clock, log, metrics });
  const { database, directory, classifier } = opened.stores;
  const watchdog = startWatchdog(clock);
  const reporting = openReporting({ ...config, database, clock, log, metrics });
  const agentMetrics = openAgentMetrics(config.databaseUrl);
  const guard = addressGuard(clock, { proxied: config.proxied });
  const reach = createOutboundFetch(guard);
  const access = accessOf(config, directory, { clock, log, metrics });
  const identity = openIdentity(config, { database, directory, clock, log, reach, ...access.refusals });
  const viewers = { ...access, ...identity, database, clock };
  const tools = toolClients({ clock, log, watchdog, reach });
  const lifecycle = { stopping: false, replaced: false, warm: false, prepared: false };
  const { shared, part } = asOneGateway(config.workers, { directory, recorder, metrics });

  const deps: OpenedDeps["deps"] = {
    ...opened.stores,
    ...shared,
    providerKeys: config.providerKeys,
    setupKey: githubAppKey(config.masterKey),
    clock,
    log,
    classify: classifyCall(classifier),
    recorder,
    telemetry,
    watchdog,
    lifecycle,
    prices: pricesOf(directory),
    drains: drainPool(),
    deployments: meteredDeployments(clock, metrics),
    learnedWires: learnedWires(clock),
    ...{ addressGuard: guard, reach, openSocket: createOutboundSocket(guard) },
    ...providerClients({ clock, log, watchdog, reach }),
    ...tools,
    guardrailTriggered: guardrailCounter(metrics),
    ...reporting,
    reportTimeZone: () => directory.current().settings.report_time_zone,
    savedReports: (ids, scope) => withStoreErrors(() => findSavedReports(database.db, ids, scope)),
    ...{ agentMetrics, reconciling: new Map() },
    ...openOwnership(database, log, shared.settledSoon),
    inFlight: openInFlight(config.inFlightMax, metrics),
    bodyBudget: meteredBodyBudget(config.bodiesBytesMax, metrics),
    ...access,
    ...identity,
    ...readersOf(config, viewers),
  };
  const close = closerInTurn({ ...deps, ...reporting, agentMetrics, telemetry, recorder, opened, part });
  return { deps, ...beginnerOf(opened, lifecycle, identity.ways), close };
}

/** Records calls; counts them, and exports them where that is set up. */
async function openRecorder(
  { spool, databaseUrl, telemetry: settings }: GatewayConfig,
  { clock, log, metrics }: { clock: Clock; log: Log; metrics: Registry },
) {
  const onFault = (error: unknown) => log.warn(errorFields(error), "traces or metrics were not exported");
  const telemetry = await openTelemetry(settings, onFault);
  processMetrics(metrics);
  const order = { told: Promise.resolve() };
  const recorder = await startRecorder({ ...spool, databaseUrl, log, clock, order });
  return { telemetry, order, recorder: withTelemetry(withMetrics(recorder, metrics, spool), telemetry) };
}

type Closes = { close(): Promise<void> };
type Closable = Record<"connections" | "agentMetrics" | "telemetry" | "opened", Closes> & {
  watchdog: { close(): void };
  recorder: { close(withinMs: number): Promise<void> };
  closeReporting(): Promise<void>;
  part(): Promise<void>;
};

/** What records calls goes before what it writes to. A Postgres that hangs delays neither, nor the jobs' end, beyond the limit. */
const closerInTurn = (it: Closable) => async (jobsOver?: Promise<void>) => {
  const inTime = (...ends: unknown[]) => within(CLOSE_MS, Promise.all(ends)).catch(() => undefined);
  const roundsOver = inTime(jobsOver);
  it.watchdog.close();
  await it.connections.close();
  await it.part();
  await Promise.all([it.recorder.close(CLOSE_MS), roundsOver]);
  await inTime(it.closeReporting(), it.agentMetrics.close(), it.telemetry.close(), it.opened.close());
};

type OpenedStores = ReturnType<typeof openStores>;

/** Begins with a snapshot of the directory at once, if there is one; the rest waits for the database. */
function beginnerOf(
  opened: OpenedStores,
  lifecycle: Lifecycle,
  ways: Pick<Ways, "off">,
): Pick<OpenedDeps, "begin" | "warmed"> {
  const warmed = Promise.withResolvers<void>();
  const warmUp = async () => {
    await opened.warm();
    lifecycle.warm = true;
    warmed.resolve();
  };
  if (opened.stores.directory.state().source === "snapshot") void warmUp();
  return {
    warmed: warmed.promise,
    async begin() {
      await opened.begin();
      await warmUp();
      lifecycle.prepared = true;
      // The log says which are off.
      await ways.off().catch(() => []);
    },
  };
}

type Readers = Pick<GatewayAppDeps, "exported" | "authorizeReports" | "authorizeMetrics">;
type Viewers = Parameters<typeof authorizeReports>[0] & Parameters<typeof authorizeMetrics>[0];

const readersOf = (config: GatewayConfig, viewers: Viewers): Readers => ({
  exported: (request, actor, report) => noteExport({ ...viewers, request, actor }, report),
  authorizeReports: (request) => authorizeReports(viewers, request),
  authorizeMetrics: async (request) =>
    config.metricsPublic ? (text) => text : await authorizeMetrics(viewers, request),
});

type OutwardDeps = Pick<GatewayAppDeps, "clock" | "log" | "watchdog"> & { reach: OutboundFetch };

function providerClients({ clock, log, watchdog, reach }: OutwardDeps) {
  return {
    send: hostedSender(createSender(reach, clock), { clock, reach }),
    consult: createCalloutClient(reach, log),
    providerApi: createProviderApi({ reach, clock, watchdog, log }),
  };
}

function toolClients({ clock, log, watchdog, reach }: OutwardDeps) {
  const askToolServer = createToolServerFetch({ reach, clock, watchdog });
  const connections = connectionsWhenUsed(askToolServer, clock);
  const lists = openLists(connections, clock, log);
  return { askToolServer, connections, lists, running: runningToolCalls() };
}

/** Limits and authorization from the settings. */
function accessOf(
  config: GatewayConfig,
  keys: KeyLookup,
  common: { clock: Clock; log: Log; metrics: Registry },
) {
  const { adminKey, publicUrl, bytesMax, allowedHosts, refusalsPerMinute, patience } = config;
  const listener: Listener = { server: null };
  const addressOf = addressIn(listener, config.trustedProxies);
  const refusals = openRefusals({ ...common, addressOf, perMinuteMax: refusalsPerMinute });
  const isAdminKey = adminSecretCheck(adminKey);
  const callers: CallerCheck = { keyOf: (digest) => keys.keyOf(digest), isAdminKey, refusals };
  return {
    listener,
    isAdminKey,
    refusals,
    callers,
    closeConnection: closerOf(listener),
    publicUrl,
    pricesUrl: config.pricesUrl,
    bytesMax,
    allowedHosts,
    patience,
    pagesDirectories: pagesDirectories(config.dataDirectory),
  };
}

/** The price book of the current directory, rebuilt only when its prices change. */
function pricesOf(directory: { current(): Directory }): () => PriceBook {
  let known: Pick<Directory, "prices" | "discounts" | "listed"> | null = null;
  let book = priceBook([], PROVIDERS);
  return () => {
    const current = directory.current();
    const { prices, discounts, listed } = current;
    if (prices === known?.prices && discounts === known.discounts && listed === known.listed) return book;
    known = current;
    book = priceBook(prices, PROVIDERS, current);
    return book;
  };
}
