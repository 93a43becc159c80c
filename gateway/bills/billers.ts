import type { FETCHED_VENDORS, VENDOR_NAMES } from "#shared/admin/vendor-bills.ts";
import type { ProviderKind } from "../providers/catalog.ts";
import type { BillFormat } from "./mappings.ts";

export type VendorName = (typeof VENDOR_NAMES)[number];
export type FetchedVendor = (typeof FETCHED_VENDORS)[number];

type Vendor = {
  /** Kinds of provider whose calls it bills. */
  kinds: readonly ProviderKind[];
  /** What a file of it is, unless the import says otherwise. */
  format: BillFormat;
};

export const BILLERS: Readonly<Record<VendorName, Vendor>> = {
  anthropic: { kinds: ["anthropic"], format: "focus" },
  openai: { kinds: ["openai"], format: "focus" },
  aws: { kinds: ["bedrock", "bedrock-mantle", "bedrock-openai"], format: "aws" },
  azure: { kinds: ["azure"], format: "azure" },
  google: { kinds: ["gemini", "vertex", "vertex-openai"], format: "google" },
  openrouter: { kinds: ["openrouter"], format: "openrouter" },
  other: { kinds: [], format: "focus" },
};
