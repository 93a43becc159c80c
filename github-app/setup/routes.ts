import { Elysia } from "elysia";
import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { callerAddress } from "#shared/proxies.ts";
import type { RefusedCredentials } from "#shared/refused-credentials.ts";
import { changeWebhookSecret } from "../github/change-webhook-secret.ts";
import type { Clients } from "../github/clients.ts";
import type { CredentialStore } from "../github/credentials.ts";
import { statusOf } from "../github/wait.ts";
import { readAppSettings } from "../stores/settings-store.ts";
import { startMeasuring } from "../stores/setup-store.ts";
import { reachesItself, reachFault } from "./address.ts";
import { readAppStatus } from "./app-status.ts";
import { convert } from "./convert.ts";
import { admit } from "./entry.ts";
import { manifestOf, readSetupForm, registrationUrl } from "./manifest.ts";
import { type Asked, askForm, askPage, confirmPage, faultPage, type Present } from "./pages.ts";
import { readForm } from "./read-form.ts";
import { answerReach, isState, newState, replacedBy } from "./state.ts";
import { statusPage } from "./status-page.ts";

export type SetupDeps = {
  config: Pick<
    GithubAppConfig,
    | "apiUrl"
    | "webUrl"
    | "webhookPath"
    | "adminKeyDigest"
    | "sealKey"
    | "trustedProxies"
    | "webhookSecrets"
    | "publicUrl"
    | "gatewayPort"
  >;
  guesses: RefusedCredentials;
  database: Database;
  credentials: CredentialStore;
  /** Null while the App has no identity on GitHub. */
  clients: () => Clients | null;
  clock: Clock;
  log: Log;
  /** After this time every process of the App has read what one of them stored. */
  spreadMs: number;
  /** Called when the App was registered or its installations changed. */
  changed: () => void;
};

const GITHUB = "https://github.com";
const NO_PAGE =
  "The App cannot be set up here: its settings come from the environment, or GITHUB_APP_KEY and MASTER_KEY are missing.";
const NOT_REPLACED = "Enter the present App's name to replace it.";
const NO_FORM = "This form did not come from this page, or is over an hour old.";
const NOT_REGISTERED_HERE =
  "The webhook secret was not created here. Restart with a new WEBHOOK_SECRET, and the former one in WEBHOOK_SECRET_PREVIOUS.";

/** `/setup`: registers an App on GitHub and shows its state. For administrators only. */
export const setupRoutes = (deps: SetupDeps) =>
  new Elysia({ name: "github-app.setup", prefix: "/setup" })
    .derive(({ request, server }) => ({
      address: callerAddress(server, request, deps.config.trustedProxies),
    }))
    .onBeforeHandle(({ request, address }) => admit(deps, request, address ?? "unknown"))
    .get("", ({ request }) => overview(deps, request))
    .get("/new", ({ request }) => confirm(deps, request))
    .get("/created", ({ request, address }) => created(deps, request, address))
    .post("/secret", ({ request, address }) => changeSecret(deps, request, address), { parse: "none" })
    .post("/measure", ({ request, address }) => measure(deps, request, address), { parse: "none" })
    .get("/installed", () => {
      deps.changed();
      return toSetup();
    });

async function overview(deps: SetupDeps, request: Request): Promise<Response> {
  const { credentials, clients, database, config, clock } = deps;
  const current = credentials.current();
  const url = new URL(request.url);
  if (current.webhookSecrets.length === 0 && credentials.register === null) return faultPage(NO_PAGE, 404);
  return statusPage({
    status: await readAppStatus(database, current, clients()),
    state: config.sealKey && newState(config.sealKey, clock.now()),
    make: askForm(askedAt(url), null, null),
    reportsUrl: config.publicUrl ?? `${url.protocol}//${url.hostname}:${config.gatewayPort}`,
  });
}

/** What the form shows first: this address, unless only this machine can use it. */
function askedAt({ origin, hostname, searchParams }: URL): Asked {
  const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname);
  return {
    url: searchParams.get("url") ?? (isLocal ? "" : origin),
    organization: searchParams.get("organization") ?? "",
    replaces: searchParams.get("replaces") ?? "",
  };
}

/** The App that works here now; null: there is none. */
function presentApp({ credentials }: SetupDeps): Present | null {
  const { identity, registered } = credentials.current();
  return identity && { id: identity.app.id, name: registered?.slug ?? String(identity.app.id) };
}

async function confirm(deps: SetupDeps, request: Request): Promise<Response> {
  const { config, credentials, clock, database } = deps;
  const { sealKey } = config;
  const here = new URL(request.url);
  if (credentials.register === null || sealKey === null) return faultPage(NO_PAGE, 404);
  const present = presentApp(deps);
  const asked = askedAt(here);
  if (!here.searchParams.has("url")) return askPage(asked, null, present);
  const form = readSetupForm(here.searchParams);
  if (typeof form === "string") return askPage(asked, form, present);
  if (present !== null && asked.replaces !== present.name) return askPage(asked, NOT_REPLACED, present);
  const fault = await reachFault(form.url, config.webUrl !== GITHUB);
  if (fault?.refused) return askPage(asked, fault.text, present);
  const manifest = manifestOf({
    settings: await readAppSettings(database),
    name: `Tallygate ${form.organization ?? crypto.randomUUID().slice(0, 6)}`.slice(0, 34),
    url: form.url,
    webhookPath: config.webhookPath,
    publicUrl: config.publicUrl,
    // The browser returns to its present address, which may differ from the one for webhooks.
    pageUrl: new URL(form.url).host === here.host ? form.url : here.origin,
  });
  const state = newState(sealKey, clock.now(), present?.id);
  const reached = await reachesItself(form.url, (question) => answerReach(sealKey, question));
  return confirmPage(registrationUrl(config.webUrl, form.organization, state), {
    ...{ manifest, reached, warnings: fault === null ? [] : [fault.text] },
  });
}

/** Replaces the App only if the administrator agreed to replace the one that is here now. */
async function created(deps: SetupDeps, request: Request, address: string | null): Promise<Response> {
  const { config, credentials, clock, log } = deps;
  const { searchParams } = new URL(request.url);
  if (credentials.register === null || config.sealKey === null) return faultPage(NO_PAGE, 404);
  const replaces = replacedBy(config.sealKey, searchParams.get("state") ?? "", clock.now());
  if (replaces === null) {
    return faultPage("This set-up was not started here, or was started over an hour ago.", 400);
  }
  await credentials.refresh();
  const present = presentApp(deps);
  if (present !== null && present.id !== replaces) {
    return faultPage(
      `The App ${present.name} was set up meanwhile and still works. Delete the new one on GitHub, or start again to replace it.`,
      409,
    );
  }
  try {
    const made = await convert(config.apiUrl, searchParams.get("code") ?? "");
    if (made === null) return faultPage("GitHub no longer accepts this code.", 400);
    await credentials.register(made, { address, now: clock.now() });
    log.info({ appId: made.appId, app: made.slug }, "the App was registered");
  } catch (error) {
    log.error(errorFields(error), "the App was not registered");
    return faultPage("GitHub did not return the App, or it could not be stored. See the log.", 502);
  }
  deps.changed();
  return toSetup();
}

/** Switches the setting on that starts everything. Only this page's own form is accepted. */
async function measure(deps: SetupDeps, request: Request, address: string | null): Promise<Response> {
  const { config, clock, database, log } = deps;
  const form = await readForm(request);
  if (form instanceof Response) return form;
  if (config.sealKey === null || !isState(config.sealKey, form.get("state") ?? "", clock.now())) {
    return faultPage(NO_FORM, 400);
  }
  await startMeasuring(database, { address, now: clock.now() });
  log.info({ address }, "measuring was started");
  deps.changed();
  return toSetup();
}

/** A browser sends its cookie automatically, so only this page's own form is accepted. */
async function changeSecret(deps: SetupDeps, request: Request, address: string | null): Promise<Response> {
  const { config, credentials, clock, log, spreadMs } = deps;
  const { registered } = credentials.current();
  const clients = deps.clients();
  const { edit } = credentials;
  if (edit === null || config.sealKey === null || clients === null || registered === null) {
    return faultPage(NOT_REGISTERED_HERE, 404);
  }
  const form = await readForm(request);
  if (form instanceof Response) return form;
  if (!isState(config.sealKey, form.get("state") ?? "", clock.now())) {
    return faultPage(NO_FORM, 400);
  }
  const updateGithub = async (secret: string) => {
    await clients.app.rest.apps.updateWebhookConfigForApp({ secret });
  };
  try {
    await changeWebhookSecret({ edit, updateGithub, spreadMs, address, clock });
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
