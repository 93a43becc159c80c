import type postgres from "postgres";
import { ADMIN_KEY, type GatewayProcess } from "#test/support/gateway-process.ts";

/** Of the month before this one, whose books are closed. */
export const LAST_DAY = new Date(Date.now() - new Date().getUTCDate() * 86_400_000)
  .toISOString()
  .slice(0, 10);
export const LAST_MONTH = LAST_DAY.slice(0, 7);
/** The one before, which is closed. */
const CLOSED_MONTH = new Date(Date.parse(`${LAST_MONTH}-01`) - 86_400_000).toISOString().slice(0, 7);

const HEAD =
  "ChargePeriodStart,BilledCost,BillingCurrency,ChargeCategory,ChargeDescription,ConsumedQuantity,ConsumedUnit,SkuMeter,x_Model,x_ApiKeyId";

/**
 * Anthropic's bill of last month, as FOCUS rows of what the records counted: its Opus is a tenth cheaper than recorded, a key
 * that the gateway does not have was used, and there is a tax. The cheaper price is then entered, to be restated with; the
 * month before is closed, and the public price list has a new model and another price.
 */
export async function seedMonth(gateway: Pick<GatewayProcess, "admin" | "url">, sql: postgres.Sql) {
  const lines = await sql<{ line: string }[]>`
    select concat_ws(',', day || 'T00:00:00Z', round(tokens * usd * share, 12), 'USD', 'Usage', model || ' ' || kind, tokens,
      'Tokens', kind || ' tokens', model, 'tallygate') as line
    from (
      select to_char(started_at at time zone 'UTC', 'YYYY-MM-DD') as day, model, kind, sum(tokens) as tokens,
        case when model = 'claude-opus-4-6' then 0.9 else 1 end as share,
        case model when 'claude-opus-4-6' then 5 when 'claude-sonnet-4-6' then 3 else 1 end * times / 1000000 as usd
      from requests, lateral (values ('input', uncached_input_tokens, 1.0), ('cached input', cache_read_tokens, 0.1),
        ('output', output_tokens, 5.0)) as counts (kind, tokens, times)
      where provider = 'anthropic' and tokens > 0 and to_char(started_at at time zone 'UTC', 'YYYY-MM') = ${LAST_MONTH}
      group by day, model, kind, times
    ) as sums order by day`;
  const day = `${LAST_MONTH}-14T00:00:00Z`;
  const others = [
    `${day},18.4,USD,Usage,claude-haiku-4-5 output,3680000,Tokens,output tokens,claude-haiku-4-5,ci-legacy`,
    `${day},95.1,USD,Tax,VAT,,,,,`,
  ];
  await gateway.admin("PUT", "/vendor-accounts/acme-anthropic", { vendor: "anthropic", keys: ["tallygate"] });
  const answer = await fetch(
    `${gateway.url}/admin/v1/vendor-bills/import?account=acme-anthropic&format=focus`,
    {
      method: "POST",
      headers: { "content-type": "text/csv", authorization: `Bearer ${ADMIN_KEY}` },
      body: [HEAD, ...lines.map(({ line }) => line), ...others].join("\n"),
    },
  );
  if (!answer.ok) throw new Error(await answer.text());
  await gateway.admin("POST", "/prices", {
    ...{ model: "claude-opus-4-6", provider: "anthropic", effective_from: `${LAST_MONTH}-01T00:00:00Z` },
    ...{ input: "4.5", output: "22.5", cached_input: "0.45" },
  });
  await gateway.admin("POST", "/periods/close", { month: CLOSED_MONTH });
  for (const [model, state, before] of [
    ["gpt-5.3", "new", null],
    ["gpt-5.2", "waiting", { input_mtok: 1.75, output_mtok: 14 }],
  ] as const) {
    const entry = { id: model, match: { equals: model }, prices: { input_mtok: 1.5, output_mtok: 12 } };
    await sql`insert into price_list_changes (id, provider, model, state, entry, before, seen_at)
      values (gen_random_uuid(), 'openai', ${model}, ${state}, ${JSON.stringify(entry)}::text::jsonb,
        ${before && JSON.stringify(before)}::text::jsonb, now())`;
  }
}
