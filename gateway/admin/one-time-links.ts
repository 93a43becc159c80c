import { SetupLink } from "#shared/admin/setup-link.ts";
import { SignInLink, SignInLinkBody } from "#shared/admin/sign-in-links.ts";
import { newSetupLink } from "#shared/setup-link.ts";
import { GatewayError, refuse } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import { audited } from "../stores/change.ts";
import { readGithubApp } from "../stores/github-app.ts";
import { findPersonByEmail, hasAdministrator } from "../stores/identity/people.ts";
import { insertSignInLink } from "../stores/identity/sign-in-links.ts";
import { type AdminDeps, adminPart, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { appAddress } from "./github-app.ts";

const docs = adminRoute("people");

/** `/admin/v1/sign-in-links`: one-time links that sign a person in. */
export const adminSignInLinks = (deps: AdminDeps) =>
  adminPart(deps, "sign-in-links").post(
    "",
    async ({ request, origin, set }): Promise<SignInLink> => {
      const { email = null, role } = await readJson(deps, request, SignInLinkBody);
      if (email === null && role !== undefined)
        refuse("/email: Expected an e-mail address, because there is a role.");
      const { token, expiresAt } = await audited(deps.database, origin, async (tx, audit) => {
        if (email === null && (await hasAdministrator(tx))) {
          throw new GatewayError(
            "conflict",
            "There is an administrator, so the link must name an e-mail address.",
          );
        }
        const person = email === null ? null : await findPersonByEmail(tx, email);
        if (person?.disabled) throw new GatewayError("conflict", "The person is disabled.");
        const link = await insertSignInLink(tx, email, deps.clock.now());
        await audit({
          action: "sign_in_link.created",
          subject: email ?? "first administrator",
          after: { expires_at: link.expiresAt.toISOString() },
        });
        return link;
      });
      set.status = 201;
      return {
        url: `${deps.publicUrl ?? new URL(request.url).origin}/sign-in?token=${token}`,
        expires_at: expiresAt.toISOString(),
      };
    },
    docs({
      summary: "Make a one-time sign-in link",
      description:
        "It is valid for 15 minutes. A link with an e-mail makes a new person a member. A link without one, which exists only while there is no administrator, makes whoever opens it the administrator.",
      body: SignInLinkBody,
      answers: { 201: SignInLink },
    }),
  );

const setupDocs = adminRoute("records");

/** `/admin/v1/setup-links`: one-time links to the GitHub App's set-up page, so that the admin key stays off its port. */
export const adminSetupLinks = (deps: AdminDeps) =>
  adminPart(deps, "setup-links").post(
    "",
    async ({ request, origin, set }): Promise<SetupLink> => {
      const app = await readDatabase(deps, readGithubApp);
      const { path, expiresAt: expires_at } = newSetupLink(deps.setupKey, deps.clock.now());
      await audited(deps.database, origin, async (_, audit) => {
        await audit({ action: "setup_link.created", subject: "GitHub App", after: { expires_at } });
      });
      set.status = 201;
      return { path, url: `${appAddress(deps, request, app)}${path}`, expires_at };
    },
    setupDocs({
      summary: "Make a one-time link to the GitHub App's set-up page",
      description: "It is valid for 15 minutes.",
      answers: { 201: SetupLink },
    }),
  );
