import type { MAPPED } from "#shared/admin/vendor-bills.ts";
import type { PriceUnit } from "../pricing/rate.ts";

/**
 * Columns by what they hold: the first one that a row has counts, and `a+b` is their sum. Column names differ by version of
 * the export, by language never. `credits` are a number, or a JSON list with an `amount` each; `rate` is USD for one unit of the
 * currency, and `per_usd` is units of the currency for one USD.
 */
export type Mapping = Partial<Record<(typeof MAPPED)[number], readonly string[]>>;

/** Exports of vendors, and FOCUS (focus.finops.org, 1.2 to 1.4), as they name their columns. */
export const MAPPINGS = {
  focus: {
    day: ["ChargePeriodStart"],
    end: ["ChargePeriodEnd"],
    amount: ["BilledCost"],
    currency: ["BillingCurrency"],
    quantity: ["ConsumedQuantity", "PricingQuantity"],
    unit: ["ConsumedUnit", "PricingUnit"],
    model: ["x_Model", "x_ModelId", "ResourceName"],
    item: ["ChargeDescription", "SkuMeter", "SkuId", "ServiceName"],
    kind: ["x_TokenType", "SkuMeter", "ChargeDescription", "SkuId"],
    tier: ["x_ServiceTier"],
    category: ["ChargeCategory"],
    key: ["x_ApiKeyId", "x_ApiKey"],
  },
  // Cost and Usage Report 2.0, and the names of the one before.
  aws: {
    day: ["line_item_usage_start_date", "lineItem/UsageStartDate"],
    amount: ["line_item_unblended_cost", "lineItem/UnblendedCost"],
    currency: ["line_item_currency_code", "lineItem/CurrencyCode"],
    quantity: ["line_item_usage_amount", "lineItem/UsageAmount"],
    unit: ["pricing_unit", "pricing/unit"],
    model: ["product_model", "product/model"],
    item: ["line_item_usage_type", "lineItem/UsageType", "line_item_line_item_description"],
    kind: ["line_item_usage_type", "lineItem/UsageType"],
    category: ["line_item_line_item_type", "lineItem/LineItemType"],
    key: ["line_item_iam_principal", "identity/IamPrincipal"],
  },
  // Cost details, actual cost.
  azure: {
    day: ["date", "Date", "UsageDateTime"],
    amount: ["costInBillingCurrency", "CostInBillingCurrency"],
    currency: ["billingCurrency", "BillingCurrency", "BillingCurrencyCode"],
    quantity: ["quantity", "Quantity"],
    unit: ["unitOfMeasure", "UnitOfMeasure"],
    item: ["meterName", "MeterName"],
    kind: ["meterName", "MeterName"],
    category: ["chargeType", "ChargeType"],
  },
  // The BigQuery export and the cost table of the console.
  google: {
    day: ["usage_start_time", "Usage start date"],
    amount: ["cost", "Cost", "Subtotal", "Cost ($)", "Subtotal ($)"],
    credits: [
      "credits",
      "Discounts ($)+Promotions and others ($)",
      "Negotiated savings ($)+Savings programs ($)+Other savings ($)",
    ],
    currency: ["currency", "Currency"],
    per_usd: ["currency_conversion_rate", "Currency conversion rate"],
    quantity: [
      "usage_amount_in_pricing_units",
      "usage.amount_in_pricing_units",
      ...["usage_amount", "usage.amount", "Usage amount"],
    ],
    unit: ["usage_pricing_unit", "usage.pricing_unit", "usage_unit", "usage.unit", "Usage unit"],
    item: ["sku_description", "sku.description", "SKU description"],
    kind: ["sku_description", "sku.description", "SKU description"],
    category: ["cost_type", "Cost type"],
  },
  // The activity export, by day and model, and the one of single calls.
  openrouter: {
    day: ["date", "created_at"],
    amount: ["usage", "cost_total"],
    quantity: ["prompt_tokens+completion_tokens", "tokens_prompt+tokens_completion"],
    model: ["model_permaslug", "model"],
    item: ["model_permaslug", "model"],
    key: ["api_key_name"],
  },
} as const satisfies Record<string, Mapping>;

export type BillFormat = keyof typeof MAPPINGS;

export type Services = { columns: readonly string[]; words: RegExp };

/** Rows of other services than models are left out of the comparison; a bill without these columns is of models. */
export const SERVICES: Readonly<Partial<Record<BillFormat, Services>>> = {
  focus: {
    columns: ["ServiceCategory", "ServiceName", "ServiceProviderName", "SkuMeter"],
    words: /AI and machine|bedrock|openai|foundry|vertex|gemini|generative|anthropic|claude|mistral|token/i,
  },
  // Models of other vendors are sold by the Marketplace, by products of any name.
  aws: {
    columns: [
      "product_servicecode",
      "line_item_product_code",
      "lineItem/ProductCode",
      "product/ProductName",
      ...["line_item_usage_type", "lineItem/UsageType"],
    ],
    words: /bedrock|token|\bMP:.*count/i,
  },
  azure: {
    columns: ["meterCategory", "MeterCategory", "productName", "ProductName", "consumedService"],
    words: /foundry|openai|cognitive|azure ai|machine ?learning/i,
  },
  google: {
    columns: ["service_description", "service.description", "Service description"],
    words: /vertex|gemini|generative|agent platform|ai platform/i,
  },
};

/** What a bill has and no record counts. */
export const NOT_METERED = ["code_execution", "session", "storage", "training", "commitment"] as const;

export type BillKind = PriceUnit | (typeof NOT_METERED)[number];

/** The first row whose words a text has says what it counts. Case and signs between words do not matter. */
const KINDS: readonly (readonly [words: RegExp, kind: BillKind])[] = [
  [/code (execution|interpreter)|container/, "code_execution"],
  [/web ?search|grounding|google search/, "web_search"],
  [/file ?search/, "file_search"],
  [/fine ?tun|training/, "training"],
  [/provisioned|throughput|\bptus?\b|commitment|reserv/, "commitment"],
  [/storage|vector store/, "storage"],
  [/\bsessions?\b/, "session"],
  [/\buncached\b/, "input"],
  [
    /cache?d?.*(writ|creat).*\b1 ?h|\b1 ?h.*cache?d?.*(writ|creat)|cache creation ephemeral 1h/,
    "cache_write_1h",
  ],
  [/cache.*(writ|creat)|(writ|creat).*cache/, "cache_write_5m"],
  [/\bcd wr\b/, "cache_write_5m"],
  [/audio.*(cache|cchd)|(cache|cchd).*audio/, "cache_audio_read"],
  [/cache|caching|cchd|\bcd\b/, "cache_read"],
  [/(audio|aud)\b.*\b(in|inp|input)|\b(in|inp|input)\b.*\baud/, "audio_input"],
  [/(audio|aud)\b.*\b(out|outp|output)|\b(out|outp|output)\b.*\baud/, "audio_output"],
  [/(image|img)\b.*\b(in|inp|input)|\b(in|inp|input)\b.*\b(image|img)/, "image_input"],
  [/(image|img)\b.*\b(out|outp|output).*token/, "image_output"],
  [/reasoning|thinking/, "output"],
  [/\b(in|inp|input|prompt)(put)?\b|input ?token/, "input"],
  [/\b(out|outp|outpt|opt|output|completion)\b|output ?token/, "output"],
  [/\b(images?|pictures?)\b/, "image"],
  [/\bcharacters?\b/, "character"],
  [/search units?/, "search_unit"],
];

/** Words apart, in lower case: `InputTokenCount` and `input_tokens` are alike. */
const wordsOf = (text: string): string =>
  text
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[^A-Za-z0-9]+/g, " ")
    .toLowerCase();

/** What a text says is counted; null: it does not say. */
export function kindIn(text: string): BillKind | null {
  const words = wordsOf(text);
  return KINDS.find(([pattern]) => pattern.test(words))?.[1] ?? null;
}

/** The service tier that a text names; null: none. Azure's meters call priority processing `pp`. */
export const tierIn = (text: string): string | null =>
  /\b(batch|flex|priority|pp)\b/.exec(wordsOf(text))?.[1]?.replace("pp", "priority") ?? null;

/** How many units one of the bill's is, such as 1000 of `1K Tokens`. */
export function unitSize(unit: string): string {
  const words = wordsOf(unit).replaceAll(/(\d) (?=000)/g, "$1");
  if (/\b(1 ?m|1000000|m|million|mtoks?)\b/.test(words)) return "1000000";
  return /\b(1 ?k|1000|k|thousand|ktoks?)\b/.test(words) ? "1000" : "1";
}
