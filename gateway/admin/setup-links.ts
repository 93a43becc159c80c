import { Elysia } from "elysia";
import { SetupLink } from "#shared/admin/setup-link.ts";
import { newSetupLink } from "#shared/setup-link.ts";
import { access } from "../identity/access.ts";
import { audited } from "../stores/change.ts";
import type { AdminDeps } from "./deps.ts";
import { adminRoute } from "./documented.ts";

const docs = adminRoute("records");

/** `/admin/v1/setup-links`: one-time links to the GitHub App's set-up page, so that the admin key stays off its port. */
export const adminSetupLinks = (deps: AdminDeps) =>
  new Elysia({ name: "admin.setup-links", prefix: "/setup-links" }).use(access(deps)).post(
    "",
    async ({ origin, set }): Promise<SetupLink> => {
      const { path, expiresAt } = newSetupLink(deps.setupKey, deps.clock.now());
      await audited(deps.database, origin, async (_, audit) => {
        await audit({
          action: "setup_link.created",
          subject: "GitHub App",
          after: { expires_at: expiresAt },
        });
      });
      set.status = 201;
      return { path, expires_at: expiresAt };
    },
    docs({
      summary: "Make a one-time link to the GitHub App's set-up page",
      description: "It is valid for 15 minutes.",
      answers: { 201: SetupLink },
    }),
  );
