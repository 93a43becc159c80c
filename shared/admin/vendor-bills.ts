import { type Static, Type } from "@sinclair/typebox";
import {
  checked,
  closed,
  Flag,
  Integer,
  nullable,
  oneOf,
  Removable,
  Switch,
  Text,
  TextOrNull,
} from "../schema.ts";
import { isTimeZone, TIME_ZONE_FAULT } from "../time-zone.ts";
import { Credential, Dated, Name, SingleLine, Usd } from "./fields.ts";

/** Vendors whose bills are read, and the kinds of provider whose calls they bill. */
export const VENDOR_KINDS = {
  anthropic: ["anthropic"],
  openai: ["openai"],
  aws: ["bedrock", "bedrock-mantle", "bedrock-openai"],
  azure: ["azure"],
  google: ["gemini", "vertex", "vertex-openai"],
  openrouter: ["openrouter"],
  other: [],
} as const;
// The keys of the table.
export const VENDOR_NAMES = Object.keys(VENDOR_KINDS) as (keyof typeof VENDOR_KINDS)[];
/** Vendors whose bill has an API that is read daily. */
export const FETCHED_VENDORS = ["anthropic", "openai"] as const;

const Vendor = oneOf(VENDOR_NAMES, "Whose bill it is; `other` needs `providers`.");
const Currency = { pattern: "^[A-Z]{3}$" };

const names = (description: string) =>
  Removable(Type.Array(SingleLine(256), { minItems: 1, maxItems: 1000, uniqueItems: true, description }));

const members = {
  credential: Removable(
    Credential(
      "An administrator's key of the vendor (Anthropic, OpenAI), with which the bill is fetched daily. Stored encrypted and never shown again; absent keeps the present one.",
    ),
  ),
  base_url: Removable(SingleLine(2048, "Null: the vendor's own address.")),
  allow_private_network: Switch(false, "Whether `base_url` may be plain http, loopback or private."),
  providers: names("The providers here that this account pays for. Null: all of the vendor's kinds."),
  keys: names(
    "Ids or names of the vendor's keys that the gateway uses; what others use is shown as unknown keys. Null: all.",
  ),
  models: Type.Optional(
    Type.Record(Type.String({ pattern: "^[^\\u0000-\\u001f]{1,256}$" }), SingleLine(256), {
      maxProperties: 1000,
      additionalProperties: false,
      description: "Model ids by the names that the bill has for them, such as `Claude Sonnet 4.5`.",
    }),
  ),
  time_zone: Type.Optional(
    checked<string>(
      { type: "string", default: "UTC", description: "IANA time zone in which the bill's days begin." },
      TIME_ZONE_FAULT.replace("must be ", ""),
      (value) => typeof value === "string" && isTimeZone(value),
    ),
  ),
  rates: Type.Optional(
    Type.Record(Type.String(Currency), Usd("USD for one unit."), {
      maxProperties: 200,
      additionalProperties: false,
      description:
        "USD for one unit of a currency, for lines that are read from now on. Without one, amounts stay unconverted.",
    }),
  ),
  enabled: Switch(true, "Whether the bill is fetched daily."),
};

/** `POST /admin/v1/vendor-accounts`. */
export const VendorAccountBody = closed({ name: Name, vendor: Vendor, ...members });
export type VendorAccountPut = Omit<Static<typeof VendorAccountBody>, "name">;
/** `PATCH /admin/v1/vendor-accounts/{name}`: absent members are kept; lists and tables are replaced completely. */
export const VendorAccountPatch = closed({ vendor: Type.Optional(Vendor), ...members });
export type VendorAccountPatch = Static<typeof VendorAccountPatch>;

const list = nullable(Type.Array(Type.String()));
const texts = Type.Record(Type.String(), Type.String());

export const VendorAccountView = closed({
  name: Name,
  vendor: Vendor,
  has_credential: Flag("The credential itself is never shown."),
  base_url: nullable(Type.String()),
  allow_private_network: Type.Boolean(),
  providers: list,
  keys: list,
  models: texts,
  time_zone: Type.String(),
  rates: texts,
  enabled: Type.Boolean(),
  fetched_at: TextOrNull("Last successful fetch."),
  failure: TextOrNull("Why the last fetch failed; null: it did not."),
  next_attempt_at: TextOrNull("When a failed fetch is tried again."),
  ...Dated,
});
export type VendorAccountView = Static<typeof VendorAccountView>;

const Day = Type.String({ format: "date" });
const decimal = (description: string) => TextOrNull(description);

export const VendorBillLine = closed({
  account: Type.String(),
  day: Day,
  category: Text("usage, tax, credit or other"),
  item: Text("In the vendor's words."),
  model: nullable(Type.String()),
  kind: TextOrNull("What is counted, such as `input` or `cache_read`; null: all in one."),
  tier: TextOrNull("Service tier; null: all in one."),
  key: TextOrNull("The vendor's key; null: the bill does not say."),
  quantity: decimal("Exact decimal."),
  amount: decimal("Exact decimal in `currency`; null: used, but not in this bill."),
  currency: Type.String(),
  rate: decimal("USD for one unit of `currency`; null: unknown."),
});
export type VendorBillLine = Static<typeof VendorBillLine>;

export const VendorBillRead = closed({
  account: Type.String(),
  from: nullable(Day),
  to: nullable(Type.String({ format: "date", description: "Last day." })),
  days: Type.Integer(),
  lines: Integer("After rows of the same day and item were added up."),
  left_out: Type.Optional(Integer("Rows of other services than models.")),
  billed: Type.Record(Type.String(), Type.String(), { description: "Exact sum by currency." }),
});
export type VendorBillRead = Static<typeof VendorBillRead>;

/** Columns of a CSV file for what a line of a bill has. */
export const MAPPED = [
  ...["day", "end", "amount", "currency", "quantity", "unit", "model"],
  ...["item", "kind", "tier", "category", "key", "credits", "rate", "per_usd"],
] as const;
