import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "#drizzle/database.ts";
import { openBodyCapture } from "./bodies.ts";
import { type BootstrapOptions, bootstrap } from "./bootstrap.ts";
import { openClassifier } from "./classifier/classifier.ts";
import { openClockCheck } from "./clock-check.ts";
import { openDirectory } from "./directory/directory.ts";
import { openSnapshot } from "./directory/snapshot.ts";
import { settleIssuers } from "./identity/accounts.ts";
import { openKeptAnswers } from "./kept-answers.ts";
import { budgetMetrics } from "./limits/budget-metrics.ts";
import { type LimiterOptions, openLimiter } from "./limits/limiter.ts";
import type { Order } from "./limits/rounds.ts";
import { type MasterKeyCheckOptions, requireMasterKey } from "./master-key-check.ts";
import { sealStoredHeaders } from "./providers.ts";
import { createSealer } from "./seal.ts";

export type StoresOptions = Omit<LimiterOptions, "spend"> &
  MasterKeyCheckOptions &
  Pick<BootstrapOptions, "providerKeys"> & {
    dataDirectory: string;
    snapshotSecondsMax: number;
    /** Who keeps the accounts of each way to sign in; null: it is not configured. */
    issuers: Readonly<Record<string, string | null>>;
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
