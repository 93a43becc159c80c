import { type FETCHED_VENDORS, VENDOR_KINDS } from "#shared/admin/vendor-bills.ts";
import type { ProviderKind } from "../providers/catalog.ts";
import type { BillFormat } from "./mappings.ts";

export type VendorName = keyof typeof VENDOR_KINDS;
export type FetchedVendor = (typeof FETCHED_VENDORS)[number];

export const BILLED_KINDS: Readonly<Record<VendorName, readonly ProviderKind[]>> = VENDOR_KINDS;

/** What a file of a vendor is, unless the import says otherwise: its own export, where it has one. */
export const FILE_FORMATS: Readonly<Partial<Record<VendorName, BillFormat>>> = {
  aws: "aws",
  azure: "azure",
  google: "google",
  openrouter: "openrouter",
};
