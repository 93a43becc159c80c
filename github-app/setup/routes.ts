import { Elysia } from "elysia";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { errorFields } from "#shared/log.ts";
import { callerAddress } from "#shared/proxies.ts";
import type { CredentialStore } from "../github/credentials.ts";
import { readAppSettings } from "../stores/settings-store.ts";
import { reachFault } from "./address.ts";
import { convert } from "./convert.ts";
import { admit, consoleUrl, type EntryDeps } from "./entry.ts";
import { manifestOf, readSetupForm, registrationUrl } from "./manifest.ts";
import { type Asked, askPage, confirmPage, faultPage, madePage, type Present } from "./pages.ts";
import { newState, replacedBy } from "./state.ts";

export type SetupDeps = EntryDeps & {
  config: Pick<GithubAppConfig, "apiUrl" | "webUrl" | "webhookPath" | "webhookSecrets" | "ownUrl">;
  credentials: CredentialStore;
  /** Called when the App was registered or its installations changed. */
  changed: () => void;
};

const GITHUB = "https://github.com";
const NO_PAGE =
  "The App cannot be registered here: its settings come from the environment, or GITHUB_APP_KEY and MASTER_KEY are missing. The console shows its state.";
const NOT_REPLACED = "Enter the present App's name to replace it.";

/** `/setup`: registers an App on GitHub. For administrators only. */
export const setupRoutes = (deps: SetupDeps) =>
  new Elysia({ name: "github-app.setup", prefix: "/setup" })
    .derive(({ request, server }) => ({
      address: callerAddress(server, request, deps.config.trustedProxies),
    }))
    .onBeforeHandle(({ request, address }) => admit(deps, request, address ?? "unknown"))
    .get("", ({ request }) => confirm(deps, request))
    .get("/new", ({ request }) => confirm(deps, request))
    .get("/created", ({ request, address }) => created(deps, request, address))
    .get("/installed", ({ request }) => {
      deps.changed();
      return new Response(null, { status: 303, headers: { location: consoleUrl(deps.config, request) } });
    });

/** What the form shows first: this address, unless only this machine can use it. */
function askedAt({ ownUrl }: SetupDeps["config"], { origin, hostname, searchParams }: URL): Asked {
  const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname);
  return {
    url: searchParams.get("url") ?? ownUrl ?? (isLocal ? "" : origin),
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
  const asked = askedAt(config, here);
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
  return confirmPage(registrationUrl(config.webUrl, form.organization, state), manifest, fault?.text ?? null);
}

/** Stores what GitHub registered and continues to its installation. Replaces the App only as agreed. */
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
    deps.changed();
    return madePage(`${made.htmlUrl}/installations/new`);
  } catch (error) {
    log.error(errorFields(error), "the App was not registered");
    return faultPage("GitHub did not return the App, or it could not be stored. See the log.", 502);
  }
}
