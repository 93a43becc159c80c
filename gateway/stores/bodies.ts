import { gt, lte, sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { capturedBodies } from "#drizzle/schema/bodies.ts";
import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { auditIn, type Origin } from "./audit.ts";
import type { SealContext, Sealer } from "./seal.ts";
import { withStoreErrors } from "./store-errors.ts";

const DAY_MS = 86_400_000;
const KEPT_MS = 7 * DAY_MS;
const SWEEP_MS = 3_600_000;
/** Bodies on their way to the database at once; more are not kept, because they would fill the memory. */
const UNDER_WAY_MAX = 32;

/** The beginning of a text, and whether there was more. */
export type Captured = { text: string; truncated: boolean };

/** A request and its answer; `answer` is null if it is not text. */
type CapturedCall = { requestId: string; request: Captured; answer: Captured | null };

export type BodyCapture = {
  /** Seals and stores; never rejects, because no call fails for it. */
  keep(call: CapturedCall): Promise<void>;
  close(): Promise<void>;
};

export type BodiesOptions = { database: Database; sealer: Sealer; clock: Clock; log: Log };

/** Keeps captured bodies, encrypted, for seven days, and deletes them when these have passed. */
export function openBodyCapture({ database, sealer, clock, log }: BodiesOptions): BodyCapture {
  const underWay = new Set<Promise<void>>();
  const store = async (call: CapturedCall) => {
    const now = clock.now();
    await withStoreErrors(() =>
      database.db.insert(capturedBodies).values({
        requestId: call.requestId,
        sealed: sealer.seal(JSON.stringify(call), belongingOf(call.requestId)),
        capturedAt: now.toISOString(),
        expiresAt: new Date(now.getTime() + KEPT_MS).toISOString(),
      }),
    );
  };
  const sweep = () =>
    deleteExpiredBodies(database).catch((error) =>
      log.warn(errorFields(error), "expired bodies could not be deleted"),
    );
  const timer = setInterval(sweep, SWEEP_MS);
  timer.unref();
  void sweep();
  return {
    async keep(call) {
      const { requestId } = call;
      if (underWay.size >= UNDER_WAY_MAX)
        return log.warn({ requestId }, "too many bodies at once; not captured");
      const stored = store(call)
        .catch((error) => log.warn({ requestId, ...errorFields(error) }, "body not captured"))
        .finally(() => underWay.delete(stored));
      underWay.add(stored);
      await stored;
    },
    async close() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

export async function deleteExpiredBodies(database: Database): Promise<void> {
  await withStoreErrors(() =>
    database.db.delete(capturedBodies).where(lte(capturedBodies.expiresAt, sql`now()`)),
  );
}

export type KeptBody = CapturedCall & { capturedAt: string; expiresAt: string };

/** The captured bodies of a call; writes the administrator's read to the audit log. Null when there are none. */
export const readCapturedBody = (
  { database, sealer, clock }: Omit<BodiesOptions, "log">,
  requestId: string,
  origin: Origin,
): Promise<KeptBody | null> =>
  withStoreErrors(() =>
    database.db.transaction(async (tx) => {
      const at = clock.now();
      const isIt = ours(capturedBodies, { requestId }, gt(capturedBodies.expiresAt, at.toISOString()));
      const [row] = await tx.select().from(capturedBodies).where(isIt);
      const opened = row && sealer.open(row.sealed, belongingOf(requestId));
      if (!opened) return null;
      await auditIn(tx, origin)({ action: "body.read", subject: requestId });
      const call: CapturedCall = JSON.parse(opened.reveal());
      return { ...call, capturedAt: row.capturedAt, expiresAt: row.expiresAt };
    }),
  );

const belongingOf = (requestId: string): SealContext => ({ orgId: DEFAULT_ORG, requestId, purpose: "body" });
