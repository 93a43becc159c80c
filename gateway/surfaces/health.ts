import { Elysia } from "elysia";
import type { Registry } from "prom-client";
import type { Clock } from "#shared/clock.ts";
import { counted } from "#shared/plural.ts";
import { priceListAt } from "../pricing/price-list.ts";
import type { Recorder } from "../recorder/recorder.ts";
import type { Copies } from "../stores/clickhouse/copies.ts";
import type { ClockCheck } from "../stores/clock-check.ts";
import type { DirectoryState, DirectoryStore } from "../stores/directory/directory.ts";
import type { SnapshotFault } from "../stores/directory/snapshot.ts";
import { documented } from "./documented.ts";

export type HealthDeps = {
  recorder: Pick<Recorder, "accepting" | "stats">;
  directory: Pick<DirectoryStore, "contact" | "current" | "state">;
  clocks: Pick<ClockCheck, "minutesAhead">;
  /** Null: records and reports are in Postgres alone. */
  copies: Copies | null;
  /** Ways to sign in that are configured and off; they may come after the database. */
  ways?: { off(): Promise<readonly { reason: string }[]> };
  lifecycle: Lifecycle;
  clock: Clock;
};

export type Lifecycle = {
  /** The process is to end: it takes no new calls for long. */
  stopping: boolean;
  /** It is to end because another one has taken over, so the port as a whole is ready. */
  replaced: boolean;
  /** Everything that calls need besides a directory is ready. */
  warm: boolean;
  /** The database is migrated and has been read. */
  prepared: boolean;
};

const ALIVE = documented("Alive", { tag: "Operation", by: null, answers: { 200: "Alive." } });
const READY = documented("Ready for model calls", {
  tag: "Operation",
  by: null,
  answers: {
    200: "Ready for model calls. `can` says what else works, `reasons` why something does not; `price_list` has the date of the built-in prices, with a `warning` after 30 days; `database` is `reachable`, `read_only` or `away`, and so is `clickhouse` where it is used.",
    503: "Cannot serve model calls, for the `reasons` given, or is stopping.",
  },
});

/** Why a start without the database has no directory. */
const FAULTS = {
  off: "snapshots of the configuration are switched off",
  missing: "there is no snapshot of the configuration in DATA_DIR",
  too_old: "the snapshot of the configuration is older than SNAPSHOT_SECONDS_MAX",
  other_version: "the snapshot of the configuration is from another version",
  unreadable: "the snapshot of the configuration cannot be read with this master key",
} as const satisfies Record<SnapshotFault, string>;

/**
 * `GET /healthz`: the process is alive. `GET /readyz`: it can record and knows its configuration, so it may be sent
 * calls; Postgres or ClickHouse being away is named but does not make it unready, because calls of known keys continue.
 */
export const health = (deps: HealthDeps) =>
  new Elysia({ name: "surface.health" })
    .get("/healthz", () => ({ status: "ok" }), { detail: ALIVE })
    .get(
      "/readyz",
      async ({ status }) => {
        const [contact, copied, off = []] = await Promise.all([
          deps.directory.contact(),
          deps.copies?.contact() ?? null,
          deps.ways?.off().catch(() => []),
        ]);
        const found = readiness(deps, contact, copied);
        const answer = {
          ...found,
          reasons: [...found.reasons, ...off.map(({ reason }) => reason)],
          price_list: priceListAt(deps.clock.now().getTime(), deps.directory.current().listFetchedAt),
        };
        return answer.can.model_calls ? answer : status(503, answer);
      },
      { detail: READY },
    );

const DATABASE = { writes: "reachable", reads: "read_only" } as const;
const READ_ONLY =
  "The database is read-only, as a standby or during a failover: records wait, and the admin API changes nothing.";
/** A record that waits for longer is a fault. */
const WAIT_MS = 10_000;

function waitReasons({ backlog, oldestMs, cause }: ReturnType<Recorder["stats"]>): string[] {
  if (oldestMs === null || oldestMs < WAIT_MS) return [];
  const why = cause === null ? "" : `: ${cause}`;
  return [
    `Records are waiting in the spool: ${backlog}, the oldest for ${Math.floor(oldestMs / 1000)} seconds${why}.`,
  ];
}

const WITHOUT_CLICKHOUSE = {
  needed: "ClickHouse is away: reports that read it are not available, and records wait in Postgres.",
  away: "ClickHouse is away: records wait in Postgres, which answers reports until ClickHouse has every record.",
} as const;

/** `copied`: of ClickHouse; null where it is not used. */
function readiness(
  { recorder, directory, lifecycle, clocks }: HealthDeps,
  contact: "writes" | "reads" | null,
  copied: Found["copied"],
) {
  const { warm, prepared } = lifecycle;
  const stopping = lifecycle.stopping && !lifecycle.replaced;
  const recording = recorder.accepting();
  const state = directory.state();
  const isReady = recording && !stopping && warm && state.source !== "none";
  const isReachable = contact !== null;
  const reports = isReachable && prepared;
  return {
    status: isReady ? "ready" : "not ready",
    recording,
    database: contact === null ? "away" : DATABASE[contact],
    ...(copied === null ? {} : { clickhouse: copied === "reachable" ? copied : "away" }),
    directory: state.source,
    directory_age_seconds: state.source === "none" ? null : state.ageSeconds,
    can: {
      model_calls: isReady,
      administration: reports && contact === "writes",
      reports: reports && copied !== "needed",
    },
    reasons: [
      ...clockReasons(clocks.minutesAhead()),
      ...(contact === "reads" ? [READ_ONLY] : []),
      ...waitReasons(recorder.stats()),
      ...reasonsOf({ state, recording, stopping, warm, reports, isReachable, copied }),
    ],
  };
}

type Found = {
  state: DirectoryState;
  isReachable: boolean;
  copied: Awaited<ReturnType<Copies["contact"]>> | null;
} & Record<"recording" | "stopping" | "warm" | "reports", boolean>;

const clockReasons = (minutes: number | null): string[] =>
  minutes === null
    ? []
    : [
        `This host's clock is ${counted(Math.abs(minutes), "minute")} ${minutes > 0 ? "ahead of" : "behind"} the database's.`,
      ];

/** The failing parts, and why they fail. */
function* reasonsOf(it: Found): Generator<string> {
  if (it.stopping) yield "The gateway is stopping.";
  if (!it.recording) yield "Nothing can be recorded: the spool is full or cannot be written.";
  if (it.copied === "away" || it.copied === "needed") yield WITHOUT_CLICKHOUSE[it.copied];
  if (it.state.source === "none") return yield withoutDirectory(it.state.fault, it.isReachable);
  if (!it.warm) yield "The gateway is starting.";
  if (!it.reports) yield withoutDatabase(it.state, it.isReachable);
}

const withoutDirectory = (fault: SnapshotFault, isReachable: boolean): string =>
  isReachable
    ? "The gateway is starting: it reads its configuration from the database."
    : `The database is away, and ${FAULTS[fault]}.`;

const withoutDatabase = ({ source }: DirectoryState, isReachable: boolean): string => {
  if (isReachable) return "The gateway is starting: reports and the admin API are not available yet.";
  const basis = source === "snapshot" ? ", and the configuration is the last one known" : "";
  return `The database is away: reports and the admin API are not available${basis}.`;
};

export type MetricsDeps = {
  metrics: Pick<Registry, "contentType" | "metrics">;
  /** What the caller sees of a text. Throws unless the metrics are public, or the request has a credential that opens them. */
  authorizeMetrics(request: Request): Promise<(text: string) => string>;
};

const METRICS = documented("Prometheus metrics", {
  tag: "Operation",
  description:
    "Takes the admin key, or an admin token with the scope `metrics`. Needs no key with METRICS_PUBLIC.",
  by: ["adminKey"],
  answers: { 200: "Prometheus' text format.", 401: "No valid admin key or token." },
});

/** `GET /metrics` in Prometheus's text format. Label values come from closed lists, so clients cannot add new ones. */
export const metrics = (deps: MetricsDeps) =>
  new Elysia({ name: "surface.metrics" }).get(
    "/metrics",
    async ({ request }) => {
      const seen = await deps.authorizeMetrics(request);
      return new Response(seen(await deps.metrics.metrics()), {
        headers: { "content-type": deps.metrics.contentType },
      });
    },
    { detail: METRICS },
  );
