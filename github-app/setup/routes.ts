import { Elysia } from "elysia";
import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { changeWebhookSecret } from "../github/change-webhook-secret.ts";
import type { Clients } from "../github/clients.ts";
import type { CredentialStore } from "../github/credentials.ts";
import { statusOf } from "../github/wait.ts";
import { readAppSettings } from "../stores/settings-store.ts";
import { isAdministrator, unauthorized } from "./administrator.ts";
import { readAppStatus } from "./app-status.ts";
import { convert } from "./convert.ts";
import { manifestOf, readSetupForm, registrationUrl } from "./manifest.ts";
import { askPage, confirmPage, faultPage, statusPage } from "./pages.ts";
import { isState, newState } from "./state.ts";

export type SetupDeps = {
  config: Pick<
    GithubAppConfig,
    "apiUrl" | "webUrl" | "webhookPath" | "adminKeyDigest" | "sealKey" | "webhookSecrets"
  >;
  database: Database;
  credentials: CredentialStore;
  /** Null while the App has no identity at GitHub. */
  clients: () => Clients | null;
  clock: Clock;
  log: Log;
  /** After this time every process of the App has read what one of them stored. */
  spreadMs: number;
  /** Called when the App was registered or its installations changed. */
  changed: () => void;
};

const NO_PAGE =
  "The App cannot be set up here: its settings come from the environment, or GITHUB_APP_KEY and MASTER_KEY are missing.";
const NOT_REGISTERED_HERE =
  "The webhook secret was not created here. Restart with a new WEBHOOK_SECRET, and the former one in WEBHOOK_SECRET_PREVIOUS.";
const NO_ADMINISTRATOR = "Start the App with the launcher, or with ADMIN_KEY, to use this page.";

/** `/setup`: registers an App at GitHub and shows its state. For administrators only. */
export const setupRoutes = (deps: SetupDeps) =>
  new Elysia({ name: "github-app.setup", prefix: "/setup" })
    .onBeforeHandle(({ request }) => {
      if (deps.config.adminKeyDigest === null) return faultPage(NO_ADMINISTRATOR, 404);
      return isAdministrator(request, deps.config.adminKeyDigest) ? undefined : unauthorized();
    })
    .get("", ({ request }) => overview(deps, request))
    .get("/new", ({ request }) => confirm(deps, request))
    .get("/created", ({ request }) => created(deps, request))
    .post("/secret", ({ request }) => changeSecret(deps, request), { parse: "none" })
    .get("/installed", () => {
      deps.changed();
      return toSetup();
    });

async function overview(
  { credentials, clients, database, config, clock }: SetupDeps,
  request: Request,
): Promise<Response> {
  const current = credentials.current();
  if (current.webhookSecrets.length > 0) {
    const state = config.sealKey && newState(config.sealKey, clock.now());
    return statusPage(await readAppStatus(database, current, clients()), state);
  }
  if (credentials.register === null) return faultPage(NO_PAGE, 404);
  const { origin, hostname } = new URL(request.url);
  const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname);
  return askPage({ url: isLocal ? "" : origin, organization: "" }, null);
}

async function confirm(deps: SetupDeps, request: Request): Promise<Response> {
  const { config, credentials, clock, database } = deps;
  const here = new URL(request.url);
  if (credentials.register === null || config.sealKey === null) return faultPage(NO_PAGE, 404);
  const form = readSetupForm(here.searchParams);
  if (typeof form === "string") {
    const { searchParams } = here;
    const given = {
      url: searchParams.get("url") ?? "",
      organization: searchParams.get("organization") ?? "",
    };
    return askPage(given, form);
  }
  const manifest = manifestOf({
    settings: await readAppSettings(database),
    name: `Tallygate ${form.organization ?? crypto.randomUUID().slice(0, 6)}`.slice(0, 34),
    url: form.url,
    webhookPath: config.webhookPath,
    // The browser returns to its present address, which may differ from the one for webhooks.
    pageUrl: new URL(form.url).host === here.host ? form.url : here.origin,
  });
  const state = newState(config.sealKey, clock.now());
  return confirmPage(registrationUrl(config.webUrl, form.organization, state), manifest);
}

async function created(deps: SetupDeps, request: Request): Promise<Response> {
  const { config, credentials, clock, log } = deps;
  const { searchParams } = new URL(request.url);
  if (credentials.register === null || config.sealKey === null) return faultPage(NO_PAGE, 404);
  if (!isState(config.sealKey, searchParams.get("state") ?? "", clock.now())) {
    return faultPage("This set-up was not started here, or was started over an hour ago.", 400);
  }
  try {
    const made = await convert(config.apiUrl, searchParams.get("code") ?? "");
    if (made === null) return faultPage("GitHub no longer accepts this code.", 400);
    await credentials.register(made, clock.now());
    log.info({ appId: made.appId, app: made.slug }, "the App was registered");
  } catch (error) {
    log.error(errorFields(error), "the App was not registered");
    return faultPage("GitHub did not return the App, or it could not be stored. See the log.", 502);
  }
  deps.changed();
  return toSetup();
}

/** A browser sends the admin key automatically, so only this page's own form is accepted. */
async function changeSecret(deps: SetupDeps, request: Request): Promise<Response> {
  const { config, credentials, clock, log, spreadMs } = deps;
  const { registered } = credentials.current();
  const clients = deps.clients();
  const { edit } = credentials;
  if (edit === null || config.sealKey === null || clients === null || registered === null) {
    return faultPage(NOT_REGISTERED_HERE, 404);
  }
  const form = new URLSearchParams(await request.text());
  if (!isState(config.sealKey, form.get("state") ?? "", clock.now())) {
    return faultPage("This form did not come from this page, or is over an hour old.", 400);
  }
  const updateGithub = async (secret: string) => {
    await clients.app.rest.apps.updateWebhookConfigForApp({ secret });
  };
  try {
    await changeWebhookSecret({ edit, updateGithub, spreadMs, clock });
    log.info({ appId: clients.appId }, "the webhook secret was changed");
  } catch (error) {
    log.error({ ...errorFields(error), status: statusOf(error) }, "the webhook secret was not changed");
    return faultPage(
      "GitHub did not confirm the new secret, or it could not be stored. Deliveries are accepted in either case. Try again.",
      502,
    );
  }
  return toSetup();
}

const toSetup = () => new Response(null, { status: 303, headers: { location: "/setup" } });
