import { SCIM_SCHEMAS } from "#shared/admin/scim.ts";
import { ERRORS, GatewayError } from "../../errors.ts";

/** RFC 7644, table 9. */
export type ScimType = "uniqueness" | "invalidFilter" | "invalidValue" | "invalidSyntax" | "mutability";

/** A refusal with SCIM's own name for its reason. */
export class ScimError extends Error {
  override readonly name = "ScimError";
  readonly status: number;
  readonly scimType: ScimType;

  constructor(scimType: ScimType, message: string) {
    super(message);
    this.scimType = scimType;
    this.status = scimType === "uniqueness" ? 409 : 400;
  }
}

export const SCIM_JSON = { "content-type": "application/scim+json" } as const;

/** The answer to a refusal, in SCIM's form (RFC 7644, 3.12). @throws what is no refusal. */
export function scimErrorAnswer(error: unknown): Response {
  if (error instanceof ScimError) {
    const { status, message, scimType } = error;
    return answer({ status, detail: message, scimType }, {});
  }
  if (!(error instanceof GatewayError) || error.type === "internal") throw error;
  const { status, ...facts } = ERRORS[error.type];
  const retry = "retryAfterSeconds" in facts ? { "retry-after": String(facts.retryAfterSeconds) } : {};
  return answer({ status, detail: error.message }, { ...retry, ...error.headers });
}

type Refusal = { status: number; detail: string; scimType?: ScimType };

function answer({ status, ...refusal }: Refusal, headers: Readonly<Record<string, string>>): Response {
  const body = { schemas: [SCIM_SCHEMAS.error], status: String(status), ...refusal };
  return Response.json(body, { status, headers: { ...headers, ...SCIM_JSON } });
}
