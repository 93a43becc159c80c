import { ExportDestinationBody } from "#shared/admin/exports.ts";
import { CommitmentBody, CommitmentPatch, SeatBody, SeatPatch } from "#shared/admin/seats.ts";
import { VendorAccountBody, VendorAccountPatch } from "#shared/admin/vendor-bills.ts";
import { formOf } from "./field.ts";

/** How what vendors bill and what is paid beforehand is entered. */

export const VENDOR_ACCOUNT = formOf(VendorAccountBody, VendorAccountPatch, {
  name: "Name",
  vendor: "Vendor",
  credential: {
    label: "Credential",
    isSecret: true,
    nothing: "Delete the stored credential",
    help: `An administrator's key of Anthropic or OpenAI, to fetch the bill daily. Stored encrypted and never shown again. Leave it empty to keep the current one.`,
  },
  base_url: { label: "Address", placeholder: "the vendor's own" },
  providers: {
    label: "Providers that it pays for",
    suggest: "provider",
    placeholder: "all of the vendor's kinds",
  },
  keys: { label: "The vendor's keys that the gateway uses", placeholder: "all" },
  models: {
    label: "Models by the bill's names",
    item: "name",
    members: { name: "In the bill", value: { label: "Model", help: "", suggest: "model" } },
  },
  time_zone: { label: "Time zone of its days", suggest: "time_zone" },
  rates: {
    label: "Currencies",
    item: "rate",
    members: { name: "Currency", value: { label: "USD for one", help: "" } },
  },
  allow_private_network: "Allow plain http, loopback and private addresses",
  enabled: "Fetched daily",
});

export const SEAT = formOf(SeatBody, SeatPatch, {
  person: { label: "Person", suggest: "person" },
  vendor: "Vendor",
  plan: { label: "Plan", placeholder: "Team" },
  monthly_usd: "A month, USD",
  effective_from: "From",
  effective_to: "Until",
});

export const COMMITMENT = formOf(CommitmentBody, CommitmentPatch, {
  name: "Name",
  kind: "Kind",
  provider: { label: "Provider", help: "", suggest: "provider" },
  models: { label: "Models", placeholder: "all", suggest: "model" },
  amount_usd: "Paid, USD",
  worth_usd: "Worth, USD",
  effective_from: "From",
  effective_to: "Until",
});

/** Where each day's FOCUS rows are uploaded. */
export const EXPORT_DESTINATION = {
  ...formOf(ExportDestinationBody, ExportDestinationBody, {
    endpoint: { label: "Address", placeholder: "https://s3.eu-central-1.amazonaws.com" },
    bucket: "Bucket",
    region: "Region",
    prefix: "Prefix",
    format: { label: "Format", help: "", initial: "parquet" },
    access_key_id: "Access key id",
    secret_access_key: {
      label: "Secret access key",
      isSecret: true,
      help: "Stored encrypted and never shown again. Leave it empty to keep the current one of this bucket.",
    },
    from: {
      label: "First day",
      help: "Empty: where it is, or this month's first.",
    },
    allow_private_network: "Allow plain http, loopback and private addresses",
    enabled: "Uploaded daily",
  }),
  replaces: true as const,
};
