import { inArray, lte, sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { keptAnswers } from "#drizzle/schema/kept-answers.ts";
import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Answered } from "../translate/responses/references.ts";
import type { SealContext, Sealer } from "./seal.ts";
import { withStoreErrors } from "./store-errors.ts";

const HOUR_MS = 3_600_000;
const SWEEP_MS = 300_000;
/** A use extends what has less left. */
const EXTENDED_MS = HOUR_MS - SWEEP_MS;
/** Characters of one answer as JSON; a longer one is kept without its question, or not at all. */
const LENGTH_MAX = 1024 * 1024;
/** Characters of all answers that one call refers to. */
const CONVERSATION_MAX = 32 * LENGTH_MAX;
/** Answers on their way to the database at once; more are not kept, because they would fill the memory. */
const UNDER_WAY_MAX = 64;

export type KeptAnswers = {
  /** Seals and stores; never rejects, because no call fails for it. */
  keep(keyId: string, answered: Answered): Promise<void>;
  /**
   * The key's answers under these ids, and the answers that they continue. A missing one is unknown, another key's or
   * expired.
   * @throws GatewayError store_unavailable
   */
  find(keyId: string, ids: readonly string[]): Promise<Map<string, Answered>>;
  close(): Promise<void>;
};

export type KeptAnswersOptions = { database: Database; sealer: Sealer; clock: Clock; log: Log };

/** Keeps translated answers, encrypted, for an hour after their last use. */
export function openKeptAnswers(options: KeptAnswersOptions): KeptAnswers {
  const { database, log } = options;
  const underWay = new Set<Promise<void>>();
  const sweep = () =>
    deleteExpiredAnswers(database).catch((error) =>
      log.warn(errorFields(error), "expired answers could not be deleted"),
    );
  const timer = setInterval(sweep, SWEEP_MS);
  timer.unref();
  void sweep();
  return {
    async keep(keyId, answered) {
      const text = textOf(answered);
      if (text === null || underWay.size >= UNDER_WAY_MAX) return;
      const stored = store(options, keyId, { ...answered, text })
        .catch((error) => log.warn(errorFields(error), "answer not kept"))
        .finally(() => underWay.delete(stored));
      underWay.add(stored);
      await stored;
    },
    find: (keyId, ids) => withStoreErrors(() => find(options, keyId, ids)),
    async close() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

type Text = Pick<Answered, "input" | "output">;

function textOf({ input, output }: Answered): string | null {
  const whole = JSON.stringify({ input, output } satisfies Text);
  if (whole.length <= LENGTH_MAX) return whole;
  const answer = JSON.stringify({ input: null, output } satisfies Text);
  return answer.length <= LENGTH_MAX ? answer : null;
}

async function store(
  { database, sealer, clock }: KeptAnswersOptions,
  keyId: string,
  { id, previousId, text }: Answered & { text: string },
): Promise<void> {
  const sealed = sealer.seal(text, belongingOf(keyId, id));
  const expiresAt = new Date(clock.now().getTime() + HOUR_MS).toISOString();
  await withStoreErrors(() =>
    database.db.insert(keptAnswers).values({ id, keyId, previousId, sealed, expiresAt }),
  );
}

async function find(
  { database, sealer, clock }: KeptAnswersOptions,
  keyId: string,
  ids: readonly string[],
): Promise<Map<string, Answered>> {
  const now = clock.now().getTime();
  const at = (ms: number) => new Date(now + ms).toISOString();
  const found = await conversation(database, { keyId, ids, now: at(0) });
  if (found.length === 0) return new Map();
  const rows = await database.db
    .select()
    .from(keptAnswers)
    .where(ours(keptAnswers, { id: found }));
  const used = rows.filter(({ expiresAt }) => expiresAt < at(EXTENDED_MS)).map(({ id }) => id);
  const extended = { expiresAt: at(HOUR_MS) };
  if (used.length > 0)
    await database.db
      .update(keptAnswers)
      .set(extended)
      .where(ours(keptAnswers, { id: used }));
  return new Map(
    rows.flatMap(({ id, previousId, sealed }) => {
      const opened = sealer.open(sealed, belongingOf(keyId, id));
      if (!opened) return [];
      // `store` sealed it, and the seal proves that it is unchanged.
      const text: Text = JSON.parse(opened.reveal());
      return [[id, { id, previousId, ...text }] as const];
    }),
  );
}

/** The key's unexpired answers under `ids` and those that they continue; none if they are too long together. */
async function conversation(
  database: Database,
  { keyId, ids, now }: { keyId: string; ids: readonly string[]; now: string },
): Promise<string[]> {
  const mine = sql`org_id = ${DEFAULT_ORG} and key_id = ${keyId} and expires_at > ${now}`;
  const rows = await database.db.execute<{ id: string; length: number }>(sql`
    with recursive chain as (
      select id, previous_id, length(sealed) from kept_answers where ${mine} and ${inArray(sql`id`, [...ids])}
      union
      select one.id, one.previous_id, length(one.sealed)
      from (select * from kept_answers where ${mine}) one join chain on one.id = chain.previous_id
    )
    select id, length from chain`);
  const length = rows.reduce((sum, row) => sum + row.length, 0);
  return length > CONVERSATION_MAX ? [] : rows.map(({ id }) => id);
}

export async function deleteExpiredAnswers(database: Database): Promise<void> {
  await withStoreErrors(() => database.db.delete(keptAnswers).where(lte(keptAnswers.expiresAt, sql`now()`)));
}

const belongingOf = (keyId: string, answerId: string): SealContext => ({
  orgId: DEFAULT_ORG,
  keyId,
  answerId,
  purpose: "answer",
});
