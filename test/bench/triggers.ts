/**
 * What the database's triggers add to a flush: Postgres's processor time for 500 records, with all of them and without, where
 * each record's session has contexts and links.
 *
 *   bun test/bench/triggers.ts
 */
import { migrate } from "#drizzle/migrate.ts";
import { ensurePartitions } from "#drizzle/partitions.ts";
import { openRecordStore } from "#gateway/stores/records.ts";
import { openRow, settledRow } from "../support/recorder-kit.ts";
import { ownPostgres } from "./reports/own-postgres.ts";

const ROWS = 500;
const BATCHES = 40;
const OWNER = "ada@example.com";

const postgres = await ownPostgres();
await migrate(postgres.url);
await ensurePartitions(postgres.url, new Date());

const declare = async (declared: boolean) => {
  await postgres.sql`truncate session_contexts, session_links, session_stretches, requests`;
  if (!declared) return;
  await postgres.sql`
    insert into session_contexts (session, declarer, repository, branch, key_id, client, declared_at)
    select 's' || n, ${OWNER}, 'o/r', 'b' || n, gen_random_uuid(), 'bench', now() from generate_series(0, 49) n`;
  await postgres.sql`
    insert into session_links (session, of_session, declarer, counts, key_id, client, declared_at)
    select 's' || n, 's' || n % 10, ${OWNER}, true, gen_random_uuid(), 'bench', now() from generate_series(10, 49) n`;
};

async function measure(name: string, how: "enable" | "disable", declared: boolean): Promise<void> {
  await declare(declared);
  await postgres.sql.unsafe(`alter table requests ${how} trigger user`);
  const store = openRecordStore(postgres.url);
  const batch = () =>
    Array.from({ length: ROWS }, (_, n) =>
      JSON.stringify(settledRow(openRow({ session: `s${n % 50}`, owner: OWNER }))),
    );
  await store.insert(batch());
  const cpu = postgres.cpuMs();
  const since = performance.now();
  for (let i = 0; i < BATCHES; i++) await store.insert(batch());
  const ms = (performance.now() - since) / BATCHES;
  console.log(
    `${name}: ${ms.toFixed(1)} ms a flush of ${ROWS}, ${((postgres.cpuMs() - cpu) / BATCHES).toFixed(1)} ms of Postgres`,
  );
  await store.close();
}

for (let run = 0; run < 3; run++) {
  await measure("without triggers", "disable", false);
  await measure("with triggers", "enable", false);
  await measure("with triggers, contexts and links", "enable", true);
}
await postgres.stop();
