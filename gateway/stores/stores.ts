import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Registry } from "prom-client";
import { openDatabase } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import type { Secret } from "../directory.ts";
import { openBodyCapture } from "./bodies.ts";
import { bootstrap } from "./bootstrap.ts";
import { openClassifier } from "./classifier/classifier.ts";
import { openClockCheck } from "./clock-check.ts";
import { openDirectory } from "./directory/directory.ts";
import { openSnapshot } from "./directory/snapshot.ts";
import { settleIssuers } from "./identity/accounts.ts";
import { openKeptAnswers } from "./kept-answers.ts";
import { budgetMetrics } from "./limits/budget-metrics.ts";
import { openLimiter } from "./limits/limiter.ts";
import type { Order } from "./limits/rounds.ts";
import { requireMasterKey } from "./master-key-check.ts";
import { sealStoredHeaders } from "./providers.ts";
import { createSealer } from "./seal.ts";

export type StoresOptions = {
  databaseUrl: string;
  dataDirectory: string;
  snapshotSecondsMax: number;
  limitsAwayAfterMs: number;
  /** 32 bytes. */
  masterKey: Uint8Array;
  /** Id of a lost master key that this one replaces. */
  masterKeyReplaces: string | null;
  /** Providers' credentials of the environment, by the variable that the catalogue names. */
  providerKeys: ReadonlyMap<string, Secret>;
  /** Who keeps the accounts of each way to sign in; null: it is not configured. */
  issuers: Readonly<Record<string, string | null>>;
  clock: Clock;
  log: Log;
  metrics: Registry;
  /** Resolves when the records of all calls that have ended are stored. */
  recorded: () => Promise<void>;
  order: Order;
};

/** Connections for administrators' queries; model calls never wait for them. */
const CONTROL = { name: "control", max: 4, statementTimeoutMs: 10_000 };

/** Everything on Postgres. Opens without it, by the last known directory; `begin` needs a migrated database. */
export function openStores(options: StoresOptions) {
  const { databaseUrl, dataDirectory, masterKey, providerKeys, clock, log } = options;
  const database = openDatabase(databaseUrl, CONTROL);
  const sealer = createSealer(masterKey);
  const snapshot = openSnapshot({
    file: join(dataDirectory, "directory.snapshot"),
    secondsMax: options.snapshotSecondsMax,
    spend: () => limiter.spend(),
    sealer,
    clock,
    log,
  });
  const { found } = snapshot;
  const spend = typeof found === "string" ? undefined : found.spend;
  const limiter = openLimiter({ ...options, spend });
  const directory = openDirectory({ database, masterKey, providerKeys, snapshot, clock, log });
  budgetMetrics(options.metrics, {
    directory: () => directory.current(),
    spend: () => limiter.spend(),
    clock,
  });
  const classifier = openClassifier({ directory, database, clock, log });
  const clocks = openClockCheck({ database, clock, log });
  const bodies = openBodyCapture({ database, sealer, clock, log });
  const keptAnswers = openKeptAnswers({ database, sealer, clock, log });
  const keepFirstKey = (secret: string) =>
    writeFile(join(dataDirectory, "first-key"), `${secret}\n`, { mode: 0o600 });

  return {
    stores: { database, sealer, directory, classifier, limiter, bodies, keptAnswers, clocks },
    /** Everything that calls need besides a directory. */
    warm: async () => {
      await Promise.all([classifier.settled(), limiter.begun]);
    },
    /** Bootstraps and reads the database, which must be migrated. @throws WrongMasterKey */
    begin: async () => {
      await requireMasterKey(options);
      await settleIssuers(database, options.issuers, clock);
      await sealStoredHeaders(database, sealer);
      await clocks.look();
      await bootstrap({ database, providerKeys, keepFirstKey, clock, log });
      await directory.begin();
    },
    close: async () => {
      classifier.close();
      clocks.close();
      await limiter.close();
      await Promise.all([directory, bodies, keptAnswers].map((opened) => opened.close()));
      await snapshot.close();
      await database.close();
    },
  };
}
