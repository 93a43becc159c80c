import { type GithubAppView, GithubAppView as View } from "#shared/admin/github-app.ts";
import { GatewayError } from "../errors.ts";
import { audited } from "../stores/change.ts";
import {
  askForReport,
  askForSecret,
  type GithubAppRow,
  readArrivals,
  readGithubApp,
  readWaitingMerges,
} from "../stores/github-app.ts";
import { type AdminDeps, adminPart, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";

const docs = adminRoute("records");
const DEFAULT_PORT = 8788;
const NO_SECRET =
  "The webhook secret was not created here. Restart with a new WEBHOOK_SECRET, and the former one in WEBHOOK_SECRET_PREVIOUS.";

/** Where a browser reaches the App: where the App says, else on the gateway's host at the App's port. */
export function appAddress(
  { publicUrl }: Pick<AdminDeps, "publicUrl">,
  request: Request,
  app: GithubAppRow | null,
): string {
  const { hostname } = new URL(publicUrl ?? request.url);
  return app?.report.url ?? `http://${hostname}:${app?.report.port ?? DEFAULT_PORT}`;
}

/** `/admin/v1/github-app`: the state of the GitHub App, which reports it through the database. */
export const adminGithubApp = (deps: AdminDeps) =>
  adminPart(deps, "github-app")
    .get(
      "",
      async ({ request }): Promise<GithubAppView> =>
        await readDatabase(deps, async (db) => {
          await askForReport(deps.database);
          const app = await readGithubApp(db);
          return {
            running: app?.running ?? false,
            address: app && appAddress(deps, request, app),
            report: app?.report ?? null,
            ...(await readArrivals(db)),
            waiting_merges: await readWaitingMerges(db),
          };
        }),
      docs({
        summary: "The GitHub App's registration, installations and deliveries",
        description: "A request makes the App query GitHub again; its next report follows within seconds.",
        answers: { 200: View },
      }),
    )
    .post(
      "/webhook-secret",
      async ({ origin, set }): Promise<void> => {
        await audited(deps.database, origin, async (tx, audit) => {
          const app = await readGithubApp(tx);
          if (app?.report.app?.slug == null) throw new GatewayError("conflict", NO_SECRET);
          await askForSecret(tx);
          await audit({ action: "github_app.webhook_secret_changed", subject: app.report.app.slug });
        });
        set.status = 202;
      },
      docs({
        summary: "Change the GitHub App's webhook secret",
        description: "The App does it within seconds, and refuses no delivery meanwhile.",
        answers: { 202: null },
      }),
    );
