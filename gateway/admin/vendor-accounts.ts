import {
  FETCHED_VENDORS,
  VendorAccountBody,
  VendorAccountPatch,
  VendorAccountView,
  VendorBillRead,
} from "#shared/admin/vendor-bills.ts";
import { viewAs } from "#shared/view-as.ts";
import {
  editedAccount,
  openAccountCredential,
  VENDOR_ACCOUNTS,
  type VendorAccountRow,
} from "../bills/bill-rows.ts";
import { fetchNow } from "../bills/fetch-bills.ts";
import { GatewayError, orNotFound, refuse } from "../errors.ts";
import { audited } from "../stores/change.ts";
import { lastFour } from "../stores/seal.ts";
import { type AdminDeps, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { namedResource } from "./named-resource.ts";

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
      body: VendorAccountBody,
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
  }).post(
    "/:name/fetch",
    async ({ params, origin }) => {
      const read = await fetchNow(deps, params.name);
      if (read && !("error" in read)) {
        await audited(deps.database, origin, (_, audit) =>
          audit({ action: "vendor_bill.read", subject: params.name, after: read }),
        );
        return read;
      }
      const row = orNotFound(await readDatabase(deps, (db) => VENDOR_ACCOUNTS.find(db, params.name)));
      if (read)
        throw new GatewayError("upstream_unreachable", `The vendor's bill was not read: ${row.failure}.`);
      const busy = row.credential !== null && FETCHED_VENDORS.some((name) => name === row.vendor);
      throw new GatewayError("conflict", busy ? "This bill is being fetched already." : NOT_FETCHED);
    },
    adminRoute("vendor bills")({
      summary: "Fetch a vendor's bill now",
      description:
        "From the first fetch's 62 days, later from 5 days before the last one, to yesterday. It is fetched daily by itself.",
      answers: { 200: VendorBillRead },
    }),
  );

const NOT_FETCHED = `Bills of ${FETCHED_VENDORS.join(" and ")} can be fetched, with a credential. Import a file.`;

const accountView = (row: VendorAccountRow): VendorAccountView =>
  // `vendor` was checked by the schema when it was stored.
  viewAs(VendorAccountView, {
    ...row,
    vendor: row.vendor as VendorAccountView["vendor"],
    hasCredential: row.credential !== null,
  });

async function checkRow(row: VendorAccountRow, deps: AdminDeps): Promise<void> {
  if (row.vendor === "other" && row.providers === null)
    refuse("/providers: Name the providers that this account pays for.");
  const fault =
    row.baseUrl === null ? null : await deps.addressGuard.saveFault(row.baseUrl, row.allowPrivateNetwork);
  if (fault !== null) refuse(`/base_url: ${fault}.`);
}
