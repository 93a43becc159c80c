import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

const EVERY_MS = 5_000;

/** Notes how a webhook was answered, each way at most once in five seconds; a failure changes nothing. `ping` too. */
export function createAnswerNotes({ sql }: Database, clock: Clock): (answer: string) => void {
  const notedMs = new Map<string, number>();
  return (answer) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - (notedMs.get(answer) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return;
    notedMs.set(answer, nowMs);
    void sql`
      insert into webhook_answers (org_id, answer, answered_at)
      values (${DEFAULT_ORG}, ${answer}, ${clock.now().toISOString()}::timestamptz)
      on conflict (org_id, answer) do update set answered_at = excluded.answered_at`.catch(() => undefined);
  };
}
