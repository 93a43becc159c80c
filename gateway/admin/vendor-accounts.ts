import { Name } from "#shared/admin/fields.ts";
import {
  VendorAccountBody,
  VendorAccountPatch,
  VendorAccountPut,
  VendorAccountView,
} from "#shared/admin/vendor-bills.ts";
import {
  editedAccount,
  openAccountCredential,
  VENDOR_ACCOUNTS,
  type VendorAccountRow,
} from "../bills/bill-rows.ts";
import { GatewayError } from "../errors.ts";
import { lastFour } from "../stores/seal.ts";
import type { AdminDeps } from "./deps.ts";
import { namedResource } from "./named-resource.ts";
import { viewAs } from "./view-as.ts";

/** `/admin/v1/vendor-accounts`: whose bills are compared with what was metered. */
export const adminVendorAccounts = (deps: AdminDeps) =>
  namedResource(deps, {
    path: "vendor-accounts",
    tag: "vendor bills",
    nouns: { one: "a vendor account", many: "vendor accounts" },
    words: {
      put: {
        summary: "Create or replace a vendor account",
        description:
          "Missing fields get their defaults. The credential stays, unless the vendor or the address changes.",
      },
      remove: { summary: "Delete a vendor account and its bills" },
    },
    schemas: {
      name: Name,
      body: VendorAccountBody,
      put: VendorAccountPut,
      patch: VendorAccountPatch,
      view: VendorAccountView,
    },
    store: VENDOR_ACCOUNTS,
    audit: {
      set: "vendor_account.set",
      deleted: "vendor_account.deleted",
      secrets: (row, { sealer }) => ({ credential: lastFour(openAccountCredential(row, sealer)) }),
    },
    made: (edit, { sealer }) => editedAccount({ ...edit, merge: false, sealer }),
    patched: (edit, { sealer }) => editedAccount({ ...edit, merge: true, sealer }),
    checkRow,
    view: accountView,
  });

export const accountView = (row: VendorAccountRow): VendorAccountView =>
  // `vendor` was checked by the schema when it was stored.
  viewAs(VendorAccountView, {
    ...row,
    vendor: row.vendor as VendorAccountView["vendor"],
    hasCredential: row.credential !== null,
  });

async function checkRow(row: VendorAccountRow, deps: AdminDeps): Promise<void> {
  if (row.vendor === "other" && row.providers === null) {
    throw new GatewayError("invalid_request", "/providers: Name the providers that this account pays for.");
  }
  const fault =
    row.baseUrl === null ? null : await deps.addressGuard.saveFault(row.baseUrl, row.allowPrivateNetwork);
  if (fault !== null) throw new GatewayError("invalid_request", `/base_url: ${fault}.`);
}
