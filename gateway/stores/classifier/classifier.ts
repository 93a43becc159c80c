import { type Database, within } from "#drizzle/database.ts";
import { pause, restartDelayMs } from "#shared/backoff.ts";
import type { Ambient } from "#shared/clock.ts";
import { errorFields } from "#shared/log.ts";
import { prepareFeatures } from "../../classifier/features.ts";
import type { Model, TrainInput } from "../../classifier/model.ts";
import { trainInputOf, versionOf } from "../../classifier/train-input.ts";
import { startTrainer, type Trainer } from "../../classifier/trainer.ts";
import type { Directory } from "../../directory.ts";
import type { DirectoryStore } from "../directory/directory.ts";
import { findRouteModel, keepRouteModel } from "./route-models.ts";

/** Changes that come in a row are trained on once. */
const GATHER_MS = 100;
/** Loading a stored classifier is given up after this; on a busy machine, training takes longer, too. */
const LOOK_UP_MAX_MS = 5000;
/** Training that takes longer has failed. */
const TRAINING_MAX_MS = 60_000;
/** The thread is kept for this long, because administrators often save several times. */
const LINGER_MS = 30_000;
/** How long a start waits for the classifier: as long as a change may take to be in force. */
const FIRST_MAX_MS = 3000;

/** `version` is what records call the classifier. */
type InForce = { version: string; model: Model; input: TrainInput; trainedAt: string };

export type RouteClassifier = {
  /** In memory; never awaits. Null: nothing classifies. */
  current(): InForce | null;
  /** The routes have changed, and the classifier of the new ones is not in force yet. */
  training(): boolean;
  /** Resolves when it is, or after 3 s. */
  settled(): Promise<void>;
  close(): void;
};

export type ClassifierOptions = Ambient & {
  directory: Pick<DirectoryStore, "current" | "subscribe">;
  database: Database;
  /** Makes the thread that trains. */
  trainer?: () => Trainer;
};

type Wanted = { version: string; input: TrainInput };

/**
 * The classifier for the directory's routes, kept up to date with them: a stored one if there is one, else a new one that
 * a separate thread trains. The old one serves until then, and for as long as training fails.
 */
export function openClassifier(options: ClassifierOptions): RouteClassifier {
  const { directory, log } = options;
  const closing = new AbortController();
  const workshop = openWorkshop(options);
  let wanted = wantedOf(directory.current());
  let inForce: InForce | null = null;
  let running: Promise<void> | null = null;
  /** Aborted by a change: training that failed for other routes may succeed for these. */
  let changed = new AbortController();

  const isBehind = () => !closing.signal.aborted && wanted !== null && wanted.version !== inForce?.version;
  const catchUp = async () => {
    let delayMs = 0;
    while (isBehind() && wanted) {
      changed = new AbortController();
      try {
        const made = await workshop.make(wanted, inForce);
        // Now, so that the first call does not have to wait.
        prepareFeatures();
        // Where the last of the routes has gone meanwhile, nothing may classify.
        if (wanted) inForce = made;
        delayMs = 0;
      } catch (error) {
        if (closing.signal.aborted) return;
        delayMs = restartDelayMs(delayMs, false);
        log.error(errorFields(error), "the classifier could not be trained; the last one stays in use");
        await pause(delayMs, AbortSignal.any([closing.signal, changed.signal]));
      }
    }
  };
  const follow = (next: Directory) => {
    wanted = wantedOf(next);
    if (!wanted) inForce = null;
    if (!isBehind()) return;
    changed.abort();
    running ??= pause(GATHER_MS, closing.signal)
      .then(catchUp)
      .finally(() => {
        running = null;
      });
  };
  directory.subscribe(follow);
  follow(directory.current());
  return {
    current: () => inForce,
    training: isBehind,
    settled: () =>
      within(FIRST_MAX_MS, running ?? Promise.resolve()).catch(() => {
        log.warn({}, "the classifier is still training; the default route answers until then");
      }),
    close: () => {
      closing.abort();
      workshop.close();
    },
  };
}

function wantedOf(directory: Directory): Wanted | null {
  const input = trainInputOf(directory.routes.values());
  return input && { version: versionOf(input), input };
}

/** Loads and trains in a thread that is started when needed, and ended when it fails or has nothing to do for a while. */
function openWorkshop({ database, clock, log, trainer = startTrainer }: ClassifierOptions) {
  let thread: Trainer | null = null;
  let idle: Timer | undefined;
  const end = () => {
    clearTimeout(idle);
    thread?.close();
    thread = null;
  };
  const linger = () => {
    clearTimeout(idle);
    idle = setTimeout(end, LINGER_MS);
    idle.unref();
  };
  const load = async ({ version, input }: Wanted): Promise<InForce | null> => {
    const stored = await within(LOOK_UP_MAX_MS, findRouteModel(database, version));
    if (!stored) return null;
    thread ??= trainer();
    return { version, input, model: await thread.load(stored.packed), trainedAt: stored.createdAt };
  };
  const train = async ({ version, input }: Wanted, before: InForce | null): Promise<InForce> => {
    thread ??= trainer();
    const { model, stored } = await thread.train(input, before?.model.starter ?? null);
    const trainedAt = clock.now().toISOString();
    const { report, threshold } = model;
    stored
      .then((packed) =>
        keepRouteModel(database, {
          version,
          model: packed,
          report: { ...report, threshold },
          createdAt: trainedAt,
        }),
      )
      .catch((error) => log.warn(errorFields(error), "the classifier could not be stored"));
    return { version, input, model, trainedAt };
  };
  return {
    close: end,
    async make(wanted: Wanted, before: InForce | null): Promise<InForce> {
      clearTimeout(idle);
      const stored = await load(wanted).catch((error) => {
        log.warn(errorFields(error), "the stored classifier could not be loaded");
        end();
        return null;
      });
      try {
        const made = stored ?? (await within(TRAINING_MAX_MS, train(wanted, before)));
        log.info({ version: wanted.version, stored: stored !== null }, "the classifier is ready");
        return made;
      } catch (error) {
        end();
        throw error;
      } finally {
        linger();
      }
    },
  };
}
