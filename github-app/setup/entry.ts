import { Elysia } from "elysia";
import type { Database } from "#drizzle/database.ts";
import type { Ambient } from "#shared/clock.ts";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { callerAddress } from "#shared/proxies.ts";
import type { RefusedCredentials } from "#shared/refused-credentials.ts";
import { readSetupLink } from "#shared/setup-link.ts";
import { useSetupLink } from "../stores/setup-store.ts";
import { isAdministrator, isVisitor, unauthorized, visitCookie } from "./administrator.ts";
import { enterPage, faultPage, linkPage } from "./pages.ts";
import { readForm } from "./read-form.ts";
import { newVisit } from "./state.ts";

export type EntryDeps = Ambient & {
  config: Pick<
    GithubAppConfig,
    "adminKeyDigest" | "sealKey" | "trustedProxies" | "publicUrl" | "gatewayPort"
  >;
  database: Database;
  guesses: RefusedCredentials;
};

const NO_ADMINISTRATOR = "Start the App with the launcher, or with ADMIN_KEY, to use this page.";
const USED = "This link was used before, is over 15 minutes old, or is not of this server.";

/** Where the console has the steps: at the gateway's address, else at its port of the host that the browser names. */
export function consoleUrl(
  { publicUrl, gatewayPort }: Pick<GithubAppConfig, "publicUrl" | "gatewayPort">,
  { url }: Request,
): string {
  return `${publicUrl ?? `http://${new URL(url).hostname}:${gatewayPort}`}/set-up`;
}

/** Public addresses below `/setup`: the one-time link. */
export const setupEntry = (deps: EntryDeps) =>
  new Elysia({ name: "github-app.setup-entry", prefix: "/setup" })
    .get("/enter", ({ request }) => enterPage(new URL(request.url).searchParams.get("token") ?? ""))
    .post(
      "/enter",
      ({ request, server }) =>
        enter(deps, request, callerAddress(server, request, deps.config.trustedProxies) ?? "unknown"),
      { parse: "none" },
    );

async function enter(
  { config, database, guesses, clock, log }: EntryDeps,
  request: Request,
  address: string,
) {
  const { sealKey } = config;
  if (sealKey === null) return faultPage(NO_ADMINISTRATOR, 404);
  const slowed = slowDown(guesses, address);
  if (slowed) return slowed;
  const now = clock.now();
  const form = await readForm(request);
  if (form instanceof Response) return form;
  const link = readSetupLink(sealKey, { text: form.get("token") ?? "", now });
  if (link === null || !(await useSetupLink(database, link, { address, now }))) {
    guesses.note(address);
    return linkPage(USED, consoleUrl(config, request));
  }
  log.info({ address }, "the set-up page was opened by a one-time link");
  const isSecure =
    new URL(request.url).protocol === "https:" || request.headers.get("x-forwarded-proto") === "https";
  const headers = { location: "/setup", "set-cookie": visitCookie(newVisit(sealKey, now), isSecure) };
  return new Response(null, { status: 303, headers });
}

function slowDown(guesses: RefusedCredentials, address: string): Response | null {
  const seconds = guesses.waitSeconds(address);
  if (seconds === 0) return null;
  return new Response("Too many wrong keys or links came from this address. Try again later.\n", {
    status: 429,
    headers: { "retry-after": String(seconds), "content-type": "text/plain; charset=utf-8" },
  });
}

/** Lets administrators pass; every other request gets the answer that this returns. */
export function admit(
  { config, guesses, clock, log }: Omit<EntryDeps, "database">,
  request: Request,
  address: string,
): Response | undefined {
  if (config.adminKeyDigest === null) return faultPage(NO_ADMINISTRATOR, 404);
  if (isVisitor(request, config.sealKey, clock.now())) return undefined;
  const slowed = slowDown(guesses, address);
  if (slowed) return slowed;
  if (isAdministrator(request, config.adminKeyDigest)) return undefined;
  if (!request.headers.has("authorization")) return linkPage(null, consoleUrl(config, request));
  guesses.note(address);
  log.warn({ address }, "a wrong admin key was presented");
  return unauthorized();
}
