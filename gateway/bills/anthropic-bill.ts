import { type Static, Type } from "@sinclair/typebox";
import { formatDecimal, parseDecimal, shiftDown } from "#shared/decimal.ts";
import { fits, open, Removable } from "#shared/schema.ts";
import { type Cost, type DaysInUtc, NO_KEY, type ReadReport, type Use, withUse } from "./fetched.ts";
import { type BillKind, kindIn } from "./mappings.ts";
import type { BillLine } from "./read-bill.ts";

const text = Removable(Type.String());
const count = Type.Optional(Type.Integer({ minimum: 0 }));
const bucketOf = <T extends Parameters<typeof Type.Array>[0]>(item: T) =>
  open({ starting_at: Type.String(), results: Type.Array(item) });

/** Of `GET /v1/organizations/cost_report`: amounts are cents of a dollar, as decimal text. */
const CostBucket = bucketOf(
  open({
    amount: Type.String(),
    currency: Type.String(),
    cost_type: text,
    description: text,
    model: text,
    token_type: text,
    service_tier: text,
    context_window: text,
    workspace_id: text,
  }),
);

/** Of `GET /v1/organizations/usage_report/messages`. */
const UsageBucket = bucketOf(
  open({
    api_key_id: text,
    workspace_id: text,
    model: text,
    service_tier: text,
    context_window: text,
    uncached_input_tokens: count,
    cache_read_input_tokens: count,
    cache_creation: Removable(open({ ephemeral_1h_input_tokens: count, ephemeral_5m_input_tokens: count })),
    output_tokens: count,
    server_tool_use: Removable(open({ web_search_requests: count })),
  }),
);
type Used = Static<typeof UsageBucket>["results"][number];

const COUNTS: readonly (readonly [BillKind, (it: Used) => number | undefined])[] = [
  ["input", (it) => it.uncached_input_tokens],
  ["cache_read", (it) => it.cache_read_input_tokens],
  ["cache_write_5m", (it) => it.cache_creation?.ephemeral_5m_input_tokens],
  ["cache_write_1h", (it) => it.cache_creation?.ephemeral_1h_input_tokens],
  ["output", (it) => it.output_tokens],
  ["web_search", (it) => it.server_tool_use?.web_search_requests],
];

/** Tiers whose cost this report leaves out, because they are paid for otherwise. */
const PAID_APART = ["priority"];

type Place = { workspace_id?: string | null; model?: string | null; context_window?: string | null };

/** Searches are billed without their model. */
const joinOf = (line: Pick<BillLine, "day" | "kind" | "tier">, it: Place): string =>
  JSON.stringify([
    line.day,
    line.kind,
    it.workspace_id ?? null,
    ...(line.kind === "web_search" ? [] : [it.model ?? null, line.tier, it.context_window ?? null]),
  ]);

/** The bill of some days by Anthropic's usage and cost API. @throws RangeError for a report in another form */
export async function anthropicBill(read: ReadReport, { fromMs, toMs }: DaysInUtc): Promise<BillLine[]> {
  const reportOf = (path: string, groups: readonly string[]) =>
    read(`/v1/organizations/${path}`, [
      ["starting_at", new Date(fromMs).toISOString()],
      ["ending_at", new Date(toMs).toISOString()],
      ["bucket_width", "1d"],
      ["limit", "31"],
      ...groups.map((group) => ["group_by[]", group] as const),
    ]);
  const [costs, uses]: [Cost[], Use[]] = [[], []];
  for await (const bucket of reportOf("cost_report", ["workspace_id", "description"])) {
    if (!fits(CostBucket, bucket)) throw new RangeError("cost report");
    costs.push(...costsIn(bucket));
  }
  const groups = ["api_key_id", "workspace_id", "model", "service_tier", "context_window"];
  for await (const bucket of reportOf("usage_report/messages", groups)) {
    if (!fits(UsageBucket, bucket)) throw new RangeError("usage report");
    uses.push(...usesIn(bucket));
  }
  return withUse(costs, uses);
}

const LINE = { category: "usage", quantity: null, key: null, currency: "USD", rate: null } as const;

const costsIn = ({ starting_at, results }: Static<typeof CostBucket>): Cost[] =>
  results.map((it) => {
    const day = starting_at.slice(0, 10);
    const kind = kindIn(it.token_type ?? it.cost_type ?? "");
    const tier = it.service_tier ?? "standard";
    const amount = formatDecimal(shiftDown(parseDecimal(it.amount), 2));
    const item = it.description ?? it.cost_type ?? "total";
    const line = { ...LINE, day, item, model: it.model ?? null, kind, tier, amount, currency: it.currency };
    return { line, join: joinOf(line, it) };
  });

const usesIn = ({ starting_at, results }: Static<typeof UsageBucket>): Use[] =>
  results.flatMap((it) =>
    COUNTS.flatMap(([kind, countOf]) => {
      const quantity = String(countOf(it) ?? 0);
      if (quantity === "0") return [];
      const [day, tier, key] = [
        starting_at.slice(0, 10),
        it.service_tier ?? "standard",
        it.api_key_id ?? NO_KEY,
      ];
      const item = `${tier} ${kind}`;
      const line = { ...LINE, day, item, model: it.model ?? null, kind, tier, key, quantity, amount: null };
      return {
        join: joinOf(line, it),
        key,
        quantity,
        line: PAID_APART.some((apart) => tier.startsWith(apart)) ? line : null,
      };
    }),
  );
