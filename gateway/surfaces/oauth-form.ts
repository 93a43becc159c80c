import { OAuthError } from "../identity/device/oauth-error.ts";
import { readBody } from "../plugins/body.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";

const BODY_BYTES_MAX = 16 * 1024;
const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

export type OAuthFields = ReadonlyMap<string, string>;

/**
 * The fields of a form; an empty body has none. Empty fields count as absent (RFC 6749, 3.2).
 * @throws OAuthError invalid_request for another type of body, and for a field that is there twice.
 */
export async function readOAuthForm(deps: RequestBodyDeps, request: Request): Promise<OAuthFields> {
  const bytes = await readBody(deps, request, { bytesMax: BODY_BYTES_MAX });
  if (bytes.byteLength === 0) return new Map();
  if (!FORM.test(request.headers.get("content-type") ?? "")) {
    throw new OAuthError("invalid_request", "Expected a body of application/x-www-form-urlencoded.");
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes))) {
    if (value === "") continue;
    if (fields.has(name)) throw new OAuthError("invalid_request", "A field is there twice.");
    fields.set(name, value);
  }
  return fields;
}
