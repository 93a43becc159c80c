/** How a column's values are written: an exact number, an instant, text, JSON of an object, or a truth value. */
export type ColumnType = "decimal" | "datetime" | "string" | "json" | "boolean" | "integer";
export type ExportColumn = { name: string; type: ColumnType; nullable: boolean };
type FocusColumn = Omit<ExportColumn, "name"> & { only?: readonly string[] };

const column = (type: ColumnType, nullable = false): FocusColumn => ({ type, nullable });
const oneOf = (...only: string[]): FocusColumn => ({ ...column("string"), only });

/**
 * The columns of FOCUS 1.4's Cost and Usage dataset that a gateway has values for, in its order, and the gateway's own, which
 * begin with `x_`. The conditional columns left out are of commitments, capacity, other currencies, invoices and resources. FOCUS has no
 * columns of its own for tokens: they are what `ConsumedQuantity` and `PricingQuantity` count, in `Tokens`.
 */
const FOCUS_COLUMNS = {
  BilledCost: column("decimal"),
  BillingAccountId: column("string"),
  BillingAccountName: column("string", true),
  BillingCurrency: oneOf("USD"),
  BillingPeriodEnd: column("datetime"),
  BillingPeriodStart: column("datetime"),
  ChargeCategory: oneOf("Usage"),
  ChargeClass: column("string", true),
  ChargeDescription: column("string", true),
  ChargeFrequency: oneOf("Usage-Based"),
  ChargePeriodEnd: column("datetime"),
  ChargePeriodStart: column("datetime"),
  ConsumedQuantity: column("decimal", true),
  ConsumedUnit: column("string", true),
  ContractedCost: column("decimal"),
  ContractedUnitPrice: column("decimal", true),
  EffectiveCost: column("decimal"),
  HostProviderName: column("string"),
  InvoiceIssuerName: column("string"),
  ListCost: column("decimal"),
  ListUnitPrice: column("decimal", true),
  PricingCategory: oneOf("Standard"),
  PricingQuantity: column("decimal", true),
  PricingUnit: column("string", true),
  ServiceCategory: oneOf("AI and Machine Learning"),
  ServiceName: column("string"),
  ServiceProviderName: column("string"),
  ServiceSubcategory: oneOf("Generative AI"),
  SkuId: column("string", true),
  SkuMeter: column("string", true),
  SkuPriceDetails: column("json", true),
  SkuPriceId: column("string", true),
  SubAccountId: column("string", true),
  SubAccountName: column("string", true),
  SubAccountType: column("string", true),
  Tags: column("json", true),
  x_BilledCostKnown: column("boolean"),
  x_Floor: column("boolean"),
  x_ListCostKnown: column("boolean"),
  x_Model: column("string", true),
  x_Requests: column("decimal"),
  x_ServiceTier: column("string", true),
  x_TokenType: column("string", true),
} as const satisfies Record<string, FocusColumn>;
export type FocusRow = Record<keyof typeof FOCUS_COLUMNS, string | boolean | null>;

export const FOCUS_EXPORT: readonly ExportColumn[] = Object.entries<FocusColumn>(FOCUS_COLUMNS).map(
  ([name, { type, nullable }]) => ({ name, type, nullable }),
);
