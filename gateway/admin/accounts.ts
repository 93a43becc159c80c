import { AccountMove, type LinkedAccount, LinkedAccounts } from "#shared/admin/people.ts";
import { GatewayError, orNotFound, refuse } from "../errors.ts";
import { applyGrants } from "../identity/mapped-people.ts";
import { readJson } from "../plugins/body.ts";
import { type AccountRow, accountsOf, deleteAccount, moveAccount } from "../stores/identity/accounts.ts";
import { findPersonByEmail } from "../stores/identity/people.ts";
import { endSessions } from "../stores/identity/sessions.ts";
import { type AdminDeps, adminPart, readDatabase, saveChange } from "./deps.ts";
import { adminRoute, noContent } from "./documented.ts";
import { idParameter } from "./list.ts";
import { type Changing, personAt } from "./person-changes.ts";

const docs = adminRoute("people");

/** `/admin/v1/people/{id}/accounts`: the accounts elsewhere that sign a person in. */
export const adminAccounts = (deps: AdminDeps) =>
  adminPart(deps, "people/:id/accounts")
    .get(
      "",
      async ({ params }) => ({
        data: await readDatabase(deps, async (db) =>
          (await accountsOf(db, (await personAt(db, params.id)).id)).map(viewOf),
        ),
      }),
      docs({ summary: "List a person's linked accounts", answers: { 200: LinkedAccounts } }),
    )
    .patch(
      "/:account",
      async ({ request, params, origin }) => {
        const { email } = await readJson(deps, request, AccountMove);
        await saveChange(deps, origin, (tx, audit) =>
          move({ tx, audit, now: deps.clock.now() }, params, email),
        );
        return noContent();
      },
      docs({
        summary: "Move an account to another person",
        description:
          "It signs in that person from now on. Ends the sessions of the person who had it. A person has at most one account per way.",
        body: AccountMove,
        answers: { 204: null },
      }),
    )
    .delete(
      "/:account",
      async ({ params, origin }) => {
        await saveChange(deps, origin, async (tx, audit) => {
          const person = await personAt(tx, params.id);
          const gone = orNotFound(await deleteAccount(tx, person.id, idParameter(params.account)));
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

type Named = { id: string; account: string };

/** @throws GatewayError not_found; invalid_request for an unknown person; conflict if they have an account of that way. */
async function move({ tx, audit, now }: Changing, { id, account }: Named, email: string): Promise<void> {
  const before = await personAt(tx, id);
  const moved = orNotFound((await accountsOf(tx, before.id)).find((it) => it.id === account));
  const after = await findPersonByEmail(tx, email);
  if (!after) refuse("/email: No person has this e-mail.");
  if (after.id === before.id) return;
  const isTaken = (await accountsOf(tx, after.id)).some(({ providerId }) => providerId === moved.providerId);
  if (isTaken)
    throw new GatewayError("conflict", `This person has another account of the way ${moved.providerId}.`);
  await moveAccount(tx, account, { personId: after.id, now });
  await endSessions(tx, before.id);
  await audit({
    action: "account.moved",
    subject: after.email,
    before: { ...viewOf(moved), person: before.email },
    after: { ...viewOf(moved), person: after.email },
  });
  for (const person of [before, after]) await applyGrants({ tx, audit, now }, person);
}

const viewOf = ({ id, providerId, issuer, accountId, createdAt, updatedAt }: AccountRow): LinkedAccount => ({
  id,
  way: providerId,
  issuer: issuer || null,
  account_id: accountId,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});
