import { type LinkedAccount, LinkedAccounts } from "#shared/admin/people.ts";
import { GatewayError } from "../errors.ts";
import { applyGrants } from "../identity/mapped-people.ts";
import { type AccountRow, accountsOf, deleteAccount } from "../stores/identity/accounts.ts";
import { findPerson } from "../stores/identity/people.ts";
import { endSessions } from "../stores/identity/sessions.ts";
import { type AdminDeps, adminPart, readDatabase, saveChange } from "./deps.ts";
import { adminRoute, noContent } from "./documented.ts";
import { idParameter } from "./parameters.ts";

const docs = adminRoute("people");

/** `/admin/v1/people/{id}/accounts`: the accounts elsewhere that sign a person in. */
export const adminAccounts = (deps: AdminDeps) =>
  adminPart(deps, "people/:id/accounts")
    .get(
      "",
      async ({ params }) => ({ data: (await readDatabase(deps, (db) => linked(db, params.id))).map(viewOf) }),
      docs({ summary: "List a person's linked accounts", answers: { 200: LinkedAccounts } }),
    )
    .delete(
      "/:account",
      async ({ params, origin }) => {
        await saveChange(deps, origin, async (tx, audit) => {
          const person = await findPerson(tx, idParameter(params.id));
          const gone = person && (await deleteAccount(tx, person.id, idParameter(params.account)));
          if (!person || !gone) throw new GatewayError("not_found");
          await endSessions(tx, person.id);
          await audit({ action: "account.unlinked", subject: person.email, before: viewOf(gone) });
          await applyGrants({ tx, audit, now: deps.clock.now() }, person);
        });
        return noContent();
      },
      docs({
        summary: "Unlink an account",
        description:
          "Ends the person's sessions. The next verified sign-in that way with the person's e-mail links its account. Do this after the identity provider was replaced, or gave the person a new account.",
        answers: { 204: null },
      }),
    );

async function linked(reader: Parameters<typeof findPerson>[0], id: string): Promise<AccountRow[]> {
  const person = await findPerson(reader, idParameter(id));
  if (!person) throw new GatewayError("not_found");
  return await accountsOf(reader, person.id);
}

const viewOf = ({ id, providerId, issuer, accountId, createdAt, updatedAt }: AccountRow): LinkedAccount => ({
  id,
  way: providerId,
  issuer: issuer || null,
  account_id: accountId,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});
