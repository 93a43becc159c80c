import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

/** When webhooks were last answered in each way; `ping` too. */
type WebhookAnswers = Record<string, string>;

const EVERY_MS = 5_000;

/** Notes how a webhook was answered, each way at most once in five seconds. */
export function createAnswerNotes({ sql }: Database, clock: Clock): (answer: string) => Promise<void> {
  const notedMs = new Map<string, number>();
  return async (answer) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - (notedMs.get(answer) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return;
    notedMs.set(answer, nowMs);
    await sql`
      insert into webhook_answers (org_id, answer, answered_at)
      values (${DEFAULT_ORG}, ${answer}, ${clock.now().toISOString()}::timestamptz)
      on conflict (org_id, answer) do update set answered_at = excluded.answered_at`;
  };
}

export async function readAnswers({ sql }: Database): Promise<WebhookAnswers> {
  const rows = await sql<{ answer: string; answered_at: Date }[]>`
    select answer, answered_at from webhook_answers where org_id = ${DEFAULT_ORG}`;
  return Object.fromEntries(rows.map((row) => [row.answer, row.answered_at.toISOString()]));
}
