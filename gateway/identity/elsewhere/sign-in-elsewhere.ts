import { errorFields, type Log } from "#shared/log.ts";
import { ownPath } from "#shared/own-path.ts";
import type { SignInCause } from "#shared/sign-in-causes.ts";
import { requestIdOf } from "../../http/listener.ts";
import { audited, ownChange } from "../../stores/change.ts";
import { clearSessions } from "../../stores/identity/sessions.ts";
import { sessionToken } from "../session-cookie.ts";
import type { SignInDeps } from "../sign-in.ts";
import { admitPerson } from "./admit-person.ts";
import { SignInFault, type WayIn, type WayName } from "./way-in.ts";
import type { Ways } from "./ways.ts";

export type ElsewhereDeps = SignInDeps & { ways: Ways; url: string; log: Log };

const redirectUri = ({ url }: ElsewhereDeps, way: WayName): string => `${url}/auth/callback/${way}`;

/** Sends a browser to an identity provider, or back to the sign-in page with the cause. */
export async function leaveFor(deps: ElsewhereDeps, way: WayName, request: Request): Promise<Response> {
  const next = ownPath(new URL(request.url).searchParams.get("next")) ?? "/";
  try {
    const wayIn = await setUp(deps, way);
    const trip = await deps.auth.leave({ way, callbackURL: next }, request);
    const to = await wayIn.authorizationUrl({ ...trip, redirectUri: redirectUri(deps, way) }, trip.state);
    return redirect(String(to), trip.headers);
  } catch (error) {
    const fault = faultOf(error);
    logged(deps, way, fault);
    return redirect(signInPage(fault.reason, next));
  }
}

/**
 * Signs in whoever comes back from an identity provider, and sends the browser to the page that it asked for. A sign-in
 * that fails goes back to the sign-in page, counts as a wrong credential and is an entry of the audit log.
 * @throws GatewayError too_many_refusals
 */
export async function comeBackFrom(deps: ElsewhereDeps, way: WayName, request: Request): Promise<Response> {
  const { searchParams } = new URL(request.url);
  const back = await deps.auth.comeBack(searchParams.get("state") ?? "", request);
  const next = ownPath(back?.kept.callbackURL ?? null) ?? "/";
  try {
    if (back?.kept.way !== way) throw new SignInFault("state_mismatch");
    const code = codeIn(searchParams);
    const { codeVerifier, idTokenNonce: nonce } = back.kept;
    const trip = { codeVerifier, nonce, redirectUri: redirectUri(deps, way) };
    const wayIn = await setUp(deps, way);
    const headers = await signedIn(deps, request, () =>
      wayIn.identify(trip, { code, issuer: searchParams.get("iss") }),
    );
    return redirect(next, back.headers, headers);
  } catch (error) {
    const fault = faultOf(error);
    logged(deps, way, fault);
    await noteRefusal(deps, request, { way, fault });
    return redirect(signInPage(fault.reason, next), ...(back ? [back.headers] : []));
  }
}

/** The cause shown for each error of a provider (RFC 6749, 4.1.2.1). */
const ERRORS: Readonly<Record<string, SignInCause>> = {
  access_denied: "denied",
  server_error: "unavailable",
  temporarily_unavailable: "unavailable",
  // Of our own answer to a form (saml-return.ts).
  email_missing: "email_missing",
  unavailable: "unavailable",
};

function codeIn(query: URLSearchParams): string {
  const code = query.get("code");
  if (code !== null) return code;
  throw new SignInFault(ERRORS[query.get("error") ?? ""] ?? "invalid_answer");
}

async function setUp({ ways }: ElsewhereDeps, way: WayName): Promise<WayIn> {
  const found = await ways[way]();
  const isOff = !found && (await ways.off()).some((it) => it.way === way);
  if (!found) throw new SignInFault(isOff ? "way_off" : "not_set_up");
  return found;
}

/** The cookie of a new session; one that the browser had before ends. */
async function signedIn(
  { database, auth, refusals, cookie, clock }: ElsewhereDeps,
  request: Request,
  identify: () => ReturnType<WayIn["identify"]>,
): Promise<Headers> {
  const identified = await identify();
  const now = clock.now();
  const from = { address: refusals.addressOf(request), requestId: requestIdOf(request), at: now };
  const person = await ownChange(database, (tx) => admitPerson(tx, identified, from));
  if (person instanceof SignInFault) throw person;
  if (person.disabled) throw new SignInFault("person_disabled", person.email);
  await ownChange(database, (tx) => clearSessions(tx, sessionToken(request.headers, cookie), now));
  return await auth.signIn({ personId: person.id, way: identified.way }, request);
}

/** A fault of ours is no fault of the sign-in. */
function faultOf(error: unknown): SignInFault {
  if (error instanceof SignInFault) return error;
  throw error;
}

/** Faults that an operator can fix: the provider is away, or refuses this client. */
function logged({ log }: ElsewhereDeps, way: WayName, { reason, cause }: SignInFault): void {
  if (cause !== undefined) log.warn({ way, reason, ...errorFields(cause) }, "a sign-in elsewhere fails");
}

/** An unreachable identity provider does not count as a wrong guess. @throws GatewayError too_many_refusals */
async function noteRefusal(
  { database, refusals, clock }: ElsewhereDeps,
  request: Request,
  { way, fault }: { way: WayName; fault: SignInFault },
): Promise<void> {
  if (fault.reason !== "unavailable") {
    const refusal = refusals.refused("sign_in_elsewhere", request);
    // Once an address is slowed down, its guesses are counted and no longer listed one by one.
    if (refusal.type !== "unauthenticated") throw refusal;
  }
  const address = refusals.addressOf(request);
  const origin = {
    actor: fault.email ?? "unknown",
    address,
    requestId: requestIdOf(request),
    at: clock.now(),
  };
  await audited(database, origin, (_, audit) =>
    audit({ action: "sign_in.failed", subject: way, after: { cause: fault.reason } }),
  );
}

const signInPage = (error: SignInCause, next: string): string =>
  `/sign-in?${new URLSearchParams({ error, ...(next !== "/" && { next }) })}`;

function redirect(location: string, ...cookies: Headers[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store" });
  for (const cookie of cookies.flatMap((it) => it.getSetCookie())) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}
