/** Errors of the device sign-in addresses (decision: Sign-in of devices is ours). */
const STATUSES = {
  authorization_pending: 400,
  // RFC 8628 has 400; Claude Code's own server answers 429, and clients go by the name.
  slow_down: 429,
  expired_token: 400,
  access_denied: 400,
  invalid_request: 400,
  unsupported_grant_type: 400,
  // RFC 6749 has 400; Claude Code's own server answers 401.
  invalid_grant: 401,
} as const;

export type OAuthErrorType = keyof typeof STATUSES;

/** Answers carry codes and secrets: nothing may keep them. */
export const NO_STORE = { "cache-control": "no-store", pragma: "no-cache" } as const;

/** A refusal in OAuth's form. `description` is for people. */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly type: OAuthErrorType;
  readonly description: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(type: OAuthErrorType, description: string | null = null, headers = {}) {
    super(type);
    this.type = type;
    this.description = description;
    this.headers = headers;
  }

  answer(): Response {
    const { type, description } = this;
    const body = { error: type, ...(description !== null && { error_description: description }) };
    return Response.json(body, { status: STATUSES[type], headers: { ...NO_STORE, ...this.headers } });
  }
}
