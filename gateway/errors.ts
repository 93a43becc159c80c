const INVALID_REQUEST = {
  final: true,
  openai: "invalid_request_error",
  anthropic: "invalid_request_error",
} as const;
const PERMISSION = { final: true, openai: "permission_error", anthropic: "permission_error" } as const;
const RATE_LIMIT = { final: false, openai: "rate_limit_error", anthropic: "rate_limit_error" } as const;
const SERVER_FAULT = { final: false, openai: "server_error", anthropic: "api_error" } as const;
const OVERLOAD = { final: false, openai: "server_error", anthropic: "overloaded_error" } as const;

/**
 * Every error that the gateway itself returns. `public` is the client's message; `final` adds `x-should-retry: false`;
 * `retryAfterSeconds` is the default for errors without a better figure; `openai` and `anthropic` are the vendors'
 * names for it, `code` is OpenAI's `error.code` if that is not the row's name.
 */
export const ERRORS = {
  invalid_request: { status: 400, ...INVALID_REQUEST, public: "The request is not valid." },
  unknown_route: {
    status: 400,
    ...INVALID_REQUEST,
    public: "No route has the name in the hint, or that route does not serve this surface.",
  },
  upgrade_required: {
    status: 426,
    ...INVALID_REQUEST,
    public: "This address takes WebSockets (`Upgrade: websocket`). Send single requests by POST.",
  },
  unauthenticated: {
    status: 401,
    final: true,
    openai: "authentication_error",
    anthropic: "authentication_error",
    public:
      "No valid client key was presented. Send it in x-gateway-key, Authorization: Bearer, x-api-key, x-goog-api-key, or api-key.",
  },
  too_many_refusals: {
    status: 429,
    ...RATE_LIMIT,
    retryAfterSeconds: 60,
    public: "Too many invalid credentials came from this address. Correct the key, then try again later.",
  },
  route_not_allowed: { status: 403, ...PERMISSION, public: "This key may not use that route." },
  model_not_allowed: { status: 403, ...PERMISSION, public: "This key may not use that model." },
  subscription_unavailable: {
    status: 403,
    ...PERMISSION,
    public: "This call cannot be paid for by the caller's own subscription.",
  },
  unpriced_model: {
    status: 403,
    ...PERMISSION,
    public:
      "This model has no price, and a budget that the call counts in refuses such models. An administrator can enter a price for it, or set `unpriced` of the budget to `allow`.",
  },
  session_not_yours: {
    status: 403,
    ...PERMISSION,
    public: "That session has calls made with another person's key.",
  },
  guardrail_blocked: {
    status: 403,
    final: true,
    openai: "guardrail_blocked",
    anthropic: "guardrail_blocked",
    public: "A guardrail of this gateway refused the request.",
  },
  role_not_allowed: { status: 403, ...PERMISSION, public: "Your role does not allow this." },
  foreign_origin: {
    status: 403,
    ...PERMISSION,
    public: "A browser may make changes only from this gateway's own pages.",
  },
  reports_not_allowed: { status: 403, ...PERMISSION, public: "This key may not read reports." },
  built_in: { status: 403, ...PERMISSION, public: "This is built in and cannot be changed." },
  not_found: {
    status: 404,
    final: true,
    openai: "not_found_error",
    anthropic: "not_found_error",
    public: "Nothing exists at this address.",
  },
  model_not_found: {
    status: 404,
    final: true,
    openai: "invalid_request_error",
    anthropic: "not_found_error",
    public:
      "No route and no provider serves that model. Add it to a provider's `models`, or create a route for it.",
  },
  method_not_allowed: {
    status: 405,
    ...INVALID_REQUEST,
    public: "This address does not support that method.",
  },
  request_timeout: {
    status: 408,
    final: false,
    openai: "invalid_request_error",
    anthropic: "timeout_error",
    public: "The request body came too slowly.",
  },
  not_open: { status: 409, ...INVALID_REQUEST, public: "All these months are closed. Reopen one first." },
  conflict: { status: 422, ...INVALID_REQUEST, public: "The name is taken. Choose another." },
  too_large: {
    status: 413,
    final: true,
    openai: "invalid_request_error",
    anthropic: "request_too_large",
    public: "The body is larger than this surface accepts.",
  },
  unsupported_media_type: {
    status: 415,
    ...INVALID_REQUEST,
    public: "This surface accepts application/json.",
  },
  rate_limited: {
    status: 429,
    ...RATE_LIMIT,
    retryAfterSeconds: 1,
    public: "The key has reached one of its limits.",
  },
  // Not 429: agents wait for that to pass, and a budget may last a month (decision: A used-up budget is 402).
  budget_exhausted: {
    status: 402,
    final: true,
    openai: "billing_error",
    code: "insufficient_quota",
    anthropic: "billing_error",
    public: "The key's budget is used up.",
  },
  // Claude Code knows how to end for this one, by headers of its own (claude-limit-headers.ts).
  spend_limit_reached: {
    status: 429,
    final: true,
    openai: "billing_error",
    anthropic: "billing_error",
    public: "The budget of this sign-in is used up.",
  },
  internal: {
    status: 500,
    ...SERVER_FAULT,
    public: "The gateway failed. It logged the failure under this request id.",
  },
  upstream_unreachable: { status: 502, ...SERVER_FAULT, public: "The provider could not be reached." },
  upstream_broken: { status: 502, ...SERVER_FAULT, public: "The provider's answer ended early." },
  key_unverifiable: { status: 502, ...SERVER_FAULT, public: "The key could not be verified. Try again." },
  cannot_record: {
    status: 503,
    ...OVERLOAD,
    retryAfterSeconds: 5,
    public: "The gateway cannot record calls at the moment, so it accepts none.",
  },
  not_ready: {
    status: 503,
    ...OVERLOAD,
    retryAfterSeconds: 5,
    public: "The gateway is starting and has not read its configuration from the database yet. Try again.",
  },
  store_unavailable: {
    status: 503,
    ...OVERLOAD,
    retryAfterSeconds: 5,
    public: "The database is unavailable at the moment.",
  },
  reports_unavailable: {
    status: 503,
    ...OVERLOAD,
    retryAfterSeconds: 2,
    public: "Reports are unavailable at the moment.",
  },
  overloaded: {
    status: 503,
    ...OVERLOAD,
    retryAfterSeconds: 2,
    public: "The gateway has reached its limit of concurrent calls.",
  },
  bodies_too_many: {
    status: 503,
    ...OVERLOAD,
    retryAfterSeconds: 2,
    public: "The gateway has no memory left for more bodies at the moment. Send the request again.",
  },
  provider_unconfigured: {
    status: 503,
    ...SERVER_FAULT,
    retryAfterSeconds: 15,
    public: "The provider of this route is switched off or has no credential.",
  },
  upstream_timeout: {
    status: 504,
    final: false,
    openai: "server_error",
    anthropic: "timeout_error",
    public: "The provider did not answer in time.",
  },
} as const satisfies Record<string, ErrorFacts>;

type ConnectionFailure = "dns" | "address_refused" | "refused" | "unroutable" | "tls" | "timeout_connect";
type AnswerFailure = "timeout_first_byte" | "timeout_idle" | "reset" | "cut" | "redirect" | "bad_status";
type OtherFailure = "headers_too_large" | "bad_answer" | "no_memory" | "file_limit" | "other";
/** Why a provider gave no complete answer. */
export type FailureCause = ConnectionFailure | AnswerFailure | OtherFailure;

type ErrorFacts = {
  status: number;
  final: boolean;
  retryAfterSeconds?: number;
  openai: string;
  code?: string;
  anthropic: string;
  public: string;
};

export type ErrorType = keyof typeof ERRORS;

/**
 * A refusal or failure with an entry in `ERRORS`. `message` replaces the public sentence and goes to the client, so it
 * may quote nothing but names that the client sent (a route, a model, a member) and what is the key's own (its name, its
 * budget).
 */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  /** Not called `code`: Elysia reads that property before it looks for a handler. */
  readonly type: ErrorType;
  /** Id of the failed call, if any, which the client may quote. */
  requestId: string | null = null;
  /** Lets a vendor's client fall back (Anthropic's `error.details`); names and codes only. */
  details: Readonly<Record<string, string | readonly string[]>> | null = null;
  /** Sent with the answer; a `retry-after` here overrides the table's. */
  headers: Readonly<Record<string, string>> = {};

  constructor(type: ErrorType, message?: string, cause?: unknown) {
    super(message ?? ERRORS[type].public, cause === undefined ? undefined : { cause });
    this.type = type;
  }
}

/** Refuses what a client sent: `text` names the member or parameter. @throws GatewayError invalid_request */
export function refuse(text: string): never {
  throw new GatewayError("invalid_request", text);
}

/** What was looked up. @throws GatewayError not_found */
export function orNotFound<T>(it: T | null | undefined): T {
  if (it === null || it === undefined) throw new GatewayError("not_found");
  return it;
}
