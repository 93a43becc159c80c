import { Elysia } from "elysia";
import { DEVICE_PROGRAMS, DEVICE_SECONDS } from "#shared/admin/device-sign-ins.ts";
import { SingleLine } from "#shared/admin/fields.ts";
import { formIn } from "#shared/form-body.ts";
import { fits } from "#shared/schema.ts";
import { newUserCode } from "../identity/device/codes.ts";
import { NO_STORE, OAuthError } from "../identity/device/oauth-error.ts";
import { POLL_SECONDS } from "../identity/device/poll.ts";
import { readBody } from "../plugins/body.ts";
import { newSecret } from "../stores/client-secret.ts";
import { insertDeviceSignIn } from "../stores/identity/device-sign-ins.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";
import { DEVICE_GRANT, type DeviceKeyDeps, keyForDevice, revokeByKey } from "./device-keys.ts";
import { OAUTH_DOCS } from "./oauth-docs.ts";
import { renewBearer } from "./renew-bearer.ts";
import type { Renewal } from "./renewals.ts";

const REFRESH_GRANT = "refresh_token";

export type OAuthDeps = DeviceKeyDeps & RequestBodyDeps & { publicUrl: string | null };

/** Sign-in of devices without a browser of their own: their person approves a short code in the console. */
export const oauth = (deps: OAuthDeps) =>
  new Elysia({ name: "surface.oauth" })
    .get("/.well-known/oauth-authorization-server", ({ request }) => metadata(baseOf(deps, request)), {
      detail: OAUTH_DOCS.metadata,
    })
    .post("/oauth/device_authorization", ({ request }) => answered(() => begin(deps, request)), {
      parse: "none",
      detail: OAUTH_DOCS.device,
    })
    .post("/oauth/token", ({ request }) => answered(() => token(deps, request)), {
      parse: "none",
      detail: OAUTH_DOCS.token,
    })
    .post("/oauth/revoke", ({ request }) => answered(() => revoke(deps, request)), {
      parse: "none",
      detail: OAUTH_DOCS.revoke,
    });

/** Clients take only addresses of the origin that their user typed. */
const baseOf = ({ publicUrl }: OAuthDeps, request: Request): string =>
  publicUrl ?? new URL(request.url).origin;

const metadata = (base: string): Response =>
  Response.json({
    issuer: base,
    device_authorization_endpoint: `${base}/oauth/device_authorization`,
    token_endpoint: `${base}/oauth/token`,
    revocation_endpoint: `${base}/oauth/revoke`,
    grant_types_supported: [DEVICE_GRANT, REFRESH_GRANT],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ["none"],
    gateway_protocol_version: 1,
  });

async function answered(work: () => Promise<object>): Promise<Response> {
  try {
    return Response.json(await work(), { headers: NO_STORE });
  } catch (error) {
    if (error instanceof OAuthError) return error.answer();
    throw error;
  }
}

async function begin(deps: OAuthDeps, request: Request): Promise<object> {
  const fields = await readOAuthForm(deps, request);
  const deviceCode = newSecret("tgd_");
  const userCode = newUserCode();
  const asked = { deviceCode, userCode, ...deviceOf(fields), address: deps.refusals.addressOf(request) };
  const isKept = await withStoreErrors(() => insertDeviceSignIn(deps.database, asked, deps.clock.now()));
  if (!isKept) throw new OAuthError("slow_down", "Too many sign-ins of this address are unfinished.", RETRY);
  const page = `${baseOf(deps, request)}/device`;
  return {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: DEVICE_SECONDS,
    interval: POLL_SECONDS,
  };
}

const RETRY = { "retry-after": "60" };
const DeviceName = SingleLine(60);
/** Characters that would let a name look like another one on the page that approves it. */
const INVISIBLE = /\p{Cf}/u;

/** A device's claims about itself; values that are too long are dropped whole. */
function deviceOf(fields: OAuthFields) {
  const name = fields.get("device_name")?.trim();
  const program = fields.get("surface");
  return {
    program: DEVICE_PROGRAMS.find((known) => known === program) ?? null,
    deviceName: fits(DeviceName, name) && !INVISIBLE.test(name) ? name : null,
  };
}

async function token(deps: OAuthDeps, request: Request): Promise<object> {
  const fields = await readOAuthForm(deps, request);
  const grant = fields.get("grant_type");
  if (grant === undefined) throw new OAuthError("invalid_request", "grant_type is missing.");
  if (grant === REFRESH_GRANT) {
    const { secret, ...renewal } = await renewBearer(deps, request, required(fields, "refresh_token"));
    return { ...bearer(secret), ...renewalView(renewal) };
  }
  if (grant !== DEVICE_GRANT) throw new OAuthError("unsupported_grant_type");
  const { secret, email, renewal } = await keyForDevice(deps, request, required(fields, "device_code"));
  return { ...bearer(secret), email, ...(renewal && renewalView(renewal)) };
}

const bearer = (secret: string) => ({ access_token: secret, token_type: "Bearer" });
const renewalView = ({ refreshToken, expiresIn }: Renewal) => ({
  refresh_token: refreshToken,
  expires_in: expiresIn,
});

function required(fields: OAuthFields, name: string): string {
  const value = fields.get(name);
  if (value === undefined) throw new OAuthError("invalid_request", `${name} is missing.`);
  return value;
}

async function revoke(deps: OAuthDeps, request: Request): Promise<object> {
  await revokeByKey(deps, request, required(await readOAuthForm(deps, request), "token"));
  return {};
}

const BODY_BYTES_MAX = 16 * 1024;
const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

type OAuthFields = ReadonlyMap<string, string>;

/**
 * The fields of a form; an empty body has none. Empty fields count as absent (RFC 6749, 3.2).
 * @throws OAuthError invalid_request for another type of body, and for a field that is there twice.
 */
async function readOAuthForm(deps: RequestBodyDeps, request: Request): Promise<OAuthFields> {
  const bytes = await readBody(deps, request, { bytesMax: BODY_BYTES_MAX });
  if (bytes.byteLength === 0) return new Map();
  if (!FORM.test(request.headers.get("content-type") ?? "")) {
    throw new OAuthError("invalid_request", "Expected a body of application/x-www-form-urlencoded.");
  }
  const fields = new Map<string, string>();
  const form = formIn(bytes);
  if (form === null) throw new OAuthError("invalid_request", "The form has too many fields.");
  for (const [name, value] of form) {
    if (value === "") continue;
    if (fields.has(name)) throw new OAuthError("invalid_request", "A field is there twice.");
    fields.set(name, value);
  }
  return fields;
}
