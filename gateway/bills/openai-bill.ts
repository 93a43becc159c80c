import { type Static, Type } from "@sinclair/typebox";
import { decimalOfNumber, formatDecimal, parseDecimal, product } from "#shared/decimal.ts";
import { fits, open, Removable } from "#shared/schema.ts";
import { type Cost, type DaysInUtc, NO_KEY, type ReadReport, type Use, withUse } from "./fetched.ts";
import { type BillKind, kindIn, tierIn } from "./mappings.ts";
import type { BillLine } from "./read-bill.ts";

const text = Removable(Type.String());
const number = Removable(Type.Number());
const count = Removable(Type.Integer({ minimum: 0 }));
const bucketOf = <T extends Parameters<typeof Type.Array>[0]>(item: T) =>
  open({ start_time: Type.Integer(), results: Type.Array(item) });

/** Of `GET /v1/organization/costs`. */
const CostBucket = bucketOf(
  open({
    amount: Type.Optional(
      open({ value: Type.Optional(Type.Union([Type.Number(), Type.String()])), currency: text }),
    ),
    line_item: text,
    api_key_id: text,
    quantity: number,
    quantity_unit: text,
  }),
);

/** Of `GET /v1/organization/usage/…`. */
const UsageBucket = bucketOf(
  open({
    model: text,
    api_key_id: text,
    batch: Removable(Type.Boolean()),
    service_tier: text,
    input_tokens: count,
    input_uncached_tokens: count,
    input_cached_tokens: count,
    input_audio_tokens: count,
    output_tokens: count,
    output_audio_tokens: count,
    images: count,
    characters: count,
    num_requests: count,
  }),
);
type Used = Static<typeof UsageBucket>["results"][number];
type Counts = readonly (readonly [BillKind, (it: Used) => number])[];

const of = (value: number | null | undefined): number => value ?? 0;
const GROUPS = ["model", "api_key_id"];

const USAGE: Readonly<Record<string, { groups: readonly string[]; counts: Counts }>> = {
  completions: {
    groups: [...GROUPS, "batch", "service_tier"],
    counts: [
      [
        "input",
        (it) =>
          (it.input_uncached_tokens ?? of(it.input_tokens) - of(it.input_cached_tokens)) -
          of(it.input_audio_tokens),
      ],
      ["cache_read", (it) => of(it.input_cached_tokens)],
      ["audio_input", (it) => of(it.input_audio_tokens)],
      ["output", (it) => of(it.output_tokens) - of(it.output_audio_tokens)],
      ["audio_output", (it) => of(it.output_audio_tokens)],
    ],
  },
  embeddings: { groups: GROUPS, counts: [["input", (it) => of(it.input_tokens)]] },
  moderations: { groups: GROUPS, counts: [["input", (it) => of(it.input_tokens)]] },
  images: { groups: GROUPS, counts: [["image", (it) => of(it.images)]] },
  audio_speeches: { groups: GROUPS, counts: [["character", (it) => of(it.characters)]] },
  web_search_calls: { groups: GROUPS, counts: [["web_search", (it) => of(it.num_requests)]] },
  file_search_calls: { groups: ["api_key_id"], counts: [["file_search", (it) => of(it.num_requests)]] },
};

/** Of a cost's quantity; other units, such as hours, are no count of ours. */
const UNIT_SIZES: Readonly<Record<string, string>> = {
  tokens: "1",
  "1000_tokens": "1000",
  images: "1",
  characters: "1",
};

/** The bill of some days by OpenAI's usage and costs API. @throws RangeError for a report in another form */
export async function openaiBill(read: ReadReport, { fromMs, toMs }: DaysInUtc): Promise<BillLine[]> {
  const reportOf = (path: string, groups: readonly string[]) =>
    read(`/v1/organization/${path}`, [
      ["start_time", String(fromMs / 1000)],
      ["end_time", String(toMs / 1000)],
      ["bucket_width", "1d"],
      ["limit", "31"],
      ...groups.map((group) => ["group_by[]", group] as const),
    ]);
  const [costs, uses]: [Cost[], Use[]] = [[], []];
  for await (const bucket of reportOf("costs", ["line_item", "api_key_id"])) {
    if (!fits(CostBucket, bucket)) throw new RangeError("costs");
    costs.push(...costsIn(bucket));
  }
  for (const [path, { groups, counts }] of Object.entries(USAGE)) {
    for await (const bucket of reportOf(`usage/${path}`, groups)) {
      if (!fits(UsageBucket, bucket)) throw new RangeError(`usage of ${path}`);
      uses.push(...usesIn(bucket, counts));
    }
  }
  return withUse(costs, uses);
}

const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

/** A line item is the model, then what is counted: `gpt-4o-2024-08-06, cached input`. Others name no model. */
function itemOf(item: string): Pick<BillLine, "item" | "model" | "kind" | "tier"> {
  const [first = "", ...rest] = item.split(",").map((part) => part.trim());
  const isTool = kindIn(first) !== null && rest.length < 2;
  const model = isTool ? rest[0] : rest.length > 0 ? first : undefined;
  return {
    item,
    model: model ?? null,
    kind: kindIn(isTool ? first : rest.join(" ")),
    tier: tierIn(item) ?? "standard",
  };
}

const costsIn = ({ start_time, results }: Static<typeof CostBucket>): Cost[] =>
  results.map((it) => {
    const { value = 0, currency } = it.amount ?? {};
    const line: BillLine = {
      day: dayOf(start_time),
      category: "usage",
      ...itemOf(it.line_item ?? "total"),
      key: it.api_key_id ?? null,
      quantity: quantityOf(it.quantity, it.quantity_unit),
      amount: formatDecimal(parseDecimal(String(value))),
      currency: (currency ?? "usd").toUpperCase(),
      rate: null,
    };
    return { line, join: JSON.stringify([line.day, line.kind, line.model, line.tier]) };
  });

function quantityOf(quantity: number | null | undefined, unit: string | null | undefined): string | null {
  const size = UNIT_SIZES[unit ?? "tokens"];
  if (quantity == null || size === undefined) return null;
  return formatDecimal(product(decimalOfNumber(quantity), parseDecimal(size)));
}

const usesIn = ({ start_time, results }: Static<typeof UsageBucket>, counts: Counts): Use[] =>
  results.flatMap((it) =>
    counts.flatMap(([kind, countOf]) => {
      const counted = countOf(it);
      const tier = it.batch ? "batch" : (it.service_tier ?? "").replace(/^default$/, "") || "standard";
      const join = JSON.stringify([dayOf(start_time), kind, it.model ?? null, tier]);
      return counted > 0 ? { join, key: it.api_key_id ?? NO_KEY, quantity: String(counted), line: null } : [];
    }),
  );
