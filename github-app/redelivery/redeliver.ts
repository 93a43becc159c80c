import type { Database } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { isEventName } from "../facts/facts.ts";
import type { Github } from "../github/octokit.ts";

export type RedeliverDeps = { database: Database; appGithub: Github; now: Date };

/** GitHub delivers again for three days (an Enterprise Server for seven). */
const DAYS_MAX = 3;
const OVERLAP_MS = 15 * 60_000;
/** One write a second is what GitHub takes; what is left over comes in the next turn, or is reconciled. */
const ASKED_AT_ONCE = 300;
/** A delivery that failed so often is refused for what it is. */
const ATTEMPTS_MAX = 10;

type Event = { id: number; attempts: number; succeeded: boolean };

/**
 * Asks GitHub to deliver again what failed since `since`, unless another attempt reached the inbox.
 * @returns how many were asked for, and how many are left over.
 */
export async function redeliver(
  deps: RedeliverDeps,
  since: Date | null,
  stopping: () => boolean,
): Promise<{ asked: number; left: number }> {
  const earliest = deps.now.getTime() - DAYS_MAX * 86_400_000;
  const sinceMs = Math.max(earliest, since === null ? earliest : since.getTime() - OVERLAP_MS);
  const events = await readEvents(deps.appGithub, sinceMs);
  const failed = [...events].filter(([, it]) => !it.succeeded && it.attempts < ATTEMPTS_MAX);
  const stored = await storedOf(
    deps.database,
    failed.map(([guid]) => guid),
  );
  const missing = failed.filter(([guid]) => !stored.has(guid)).map(([, it]) => it);
  // The oldest first, so that an outage is made up for in its order.
  missing.sort((a, b) => a.id - b.id);
  let asked = 0;
  for (const { id } of missing.slice(0, ASKED_AT_ONCE)) {
    if (stopping()) break;
    await deps.appGithub.rest.apps.redeliverWebhookDelivery({ delivery_id: id });
    asked++;
  }
  return { asked, left: missing.length - asked };
}

/** The events that were delivered since, by their delivery id, which all attempts share. */
async function readEvents(github: Github, sinceMs: number): Promise<Map<string, Event>> {
  const events = new Map<string, Event>();
  const pages = github.paginate.iterator(github.rest.apps.listWebhookDeliveries, { per_page: 100 });
  for await (const { data } of pages) {
    for (const it of data) {
      if (!isEventName(it.event)) continue;
      const known = events.get(it.guid) ?? { id: it.id, attempts: 0, succeeded: false };
      known.attempts++;
      known.succeeded ||= it.status_code >= 200 && it.status_code < 300;
      known.id = Math.min(known.id, it.id);
      events.set(it.guid, known);
    }
    const last = data.at(-1);
    if (last && Date.parse(last.delivered_at) < sinceMs) break;
  }
  return events;
}

async function storedOf({ sql }: Database, guids: readonly string[]): Promise<Set<string>> {
  if (guids.length === 0) return new Set();
  const rows = await sql<{ delivery_id: string }[]>`
    select delivery_id from webhook_inbox
    where org_id = ${DEFAULT_ORG}
      and delivery_id in (select jsonb_array_elements_text(${sql.json(guids)}::jsonb))`;
  return new Set(rows.map((row) => row.delivery_id));
}
