import type { Database } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

/** The ones of these deliveries that GitHub refused to send again. */
export async function refusedAmong({ sql }: Database, deliveryIds: readonly string[]): Promise<Set<string>> {
  if (deliveryIds.length === 0) return new Set();
  const rows = await sql<{ delivery_id: string }[]>`
    select delivery_id from refused_redeliveries
    where org_id = ${DEFAULT_ORG}
      and delivery_id in (select jsonb_array_elements_text(${sql.json(deliveryIds)}::jsonb))`;
  return new Set(rows.map((row) => row.delivery_id));
}

/** Stores that GitHub refused to send a delivery again; deletes refusals from before `forgetBefore`. */
export async function noteRefusedRedelivery(
  { sql }: Database,
  { deliveryId, status }: { deliveryId: string; status: number },
  { now, forgetBefore }: { now: Date; forgetBefore: Date },
): Promise<void> {
  await sql`
    insert into refused_redeliveries (org_id, delivery_id, status, refused_at)
    values (${DEFAULT_ORG}, ${deliveryId}, ${status}, ${now.toISOString()}::timestamptz)
    on conflict do nothing`;
  await sql`
    delete from refused_redeliveries
    where org_id = ${DEFAULT_ORG} and refused_at < ${forgetBefore.toISOString()}::timestamptz`;
}
