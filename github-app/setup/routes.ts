import { Elysia } from "elysia";
import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { changeWebhookSecret } from "../github/change-webhook-secret.ts";
import type { CredentialStore } from "../github/credentials.ts";
import { appGithub, statusOf } from "../github/octokit.ts";
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
  clock: Clock;
  log: Log;
  /** Time after which every process of the App has read what one of them stored. */
  spreadMs: number;
  /** Told when the App was registered, or installed anew. */
  changed: () => void;
};

const NO_PAGE =
  "The App cannot be set up here: it is configured by the environment, or was started without GITHUB_APP_KEY or MASTER_KEY.";
const NO_SECRET_OF_OURS =
  "The webhook secret is not this page's: start with another WEBHOOK_SECRET, and the former one in WEBHOOK_SECRET_PREVIOUS.";
const NO_ADMINISTRATOR = "Start the App by the launcher, or with ADMIN_KEY, to use this page.";

/** `/setup`: makes an App at GitHub and shows what it sees. For administrators only. */
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
  { credentials, database, config, clock }: SetupDeps,
  request: Request,
): Promise<Response> {
  const current = credentials.current();
  if (current.webhookSecrets.length > 0) {
    const state = config.sealKey && newState(config.sealKey, clock.now());
    return statusPage(await readAppStatus(database, current), state);
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
    // The browser comes back to where it is, which need not be where GitHub's webhooks go.
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
    return faultPage("This way from GitHub did not begin here, or over an hour ago.", 400);
  }
  try {
    const made = await convert(config.apiUrl, searchParams.get("code") ?? "");
    if (made === null) return faultPage("GitHub does not know this code any more.", 400);
    await credentials.register(made, clock.now());
    log.info({ appId: made.appId, app: made.slug }, "the App was registered");
  } catch (error) {
    log.error(errorFields(error), "the App was not registered");
    return faultPage("GitHub did not hand over the App, or it could not be stored. The log says which.", 502);
  }
  deps.changed();
  return toSetup();
}

/** A browser sends the admin key by itself, so only a form of the page's own counts. */
async function changeSecret(deps: SetupDeps, request: Request): Promise<Response> {
  const { config, credentials, clock, log, spreadMs } = deps;
  const { identity, registered } = credentials.current();
  const { edit } = credentials;
  if (edit === null || config.sealKey === null || identity === null || registered === null) {
    return faultPage(NO_SECRET_OF_OURS, 404);
  }
  const form = new URLSearchParams(await request.text());
  if (!isState(config.sealKey, form.get("state") ?? "", clock.now())) {
    return faultPage("This form is not of this page, or over an hour old.", 400);
  }
  const tellGithub = async (secret: string) => {
    await appGithub(identity).rest.apps.updateWebhookConfigForApp({ secret });
  };
  try {
    await changeWebhookSecret({ edit, tellGithub, spreadMs, clock });
    log.info({ appId: identity.app.id }, "the webhook secret was changed");
  } catch (error) {
    log.error({ ...errorFields(error), status: statusOf(error) }, "the webhook secret was not changed");
    return faultPage(
      "GitHub did not confirm the new secret, or it could not be stored. What GitHub signs with is accepted either way; try again.",
      502,
    );
  }
  return toSetup();
}

const toSetup = () => new Response(null, { status: 303, headers: { location: "/setup" } });
