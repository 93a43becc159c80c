import { type TSchema, Type } from "@sinclair/typebox";
import type { Role } from "#shared/admin/people.ts";
import type { TokenScope } from "#shared/admin/tokens.ts";
import { closed } from "#shared/schema.ts";
import type { Access } from "../identity/access.ts";

const Failure = closed({
  error: Type.Object({ type: Type.String(), message: Type.String() }, { additionalProperties: true }),
});

const FAILURES = {
  "400": "A field or parameter is unknown, missing or wrong; the message names it.",
  "401": "No valid key or token was sent, and no one is signed in.",
  "403": "The role does not allow it, or a browser sends it from another site's page.",
  "404": "Not found.",
  "409": "What it needs is closed or not set up; the message says what to do.",
  "422": "The change conflicts with what exists: a name is taken, or the resource is in use.",
  "503": "The database is unavailable at the moment.",
} as const;

export type RouteDocs = {
  summary: string;
  /** The lowest role that may use the route. Default: administrators. */
  role?: Role;
  /** The scopes of tokens that open the route, too. */
  scopes?: readonly TokenScope[];
  description?: string;
  body?: TSchema;
  /** A file as the body: its kinds. */
  file?: readonly string[];
  /** Query parameters and their meanings. */
  query?: Readonly<Record<string, string>>;
  /** Status and schema of the answer; null is an answer without a body. */
  answers: Readonly<Record<number, TSchema | null>>;
};

/** Routes of `/v1/me`, documented like those of the admin API. */
export const ownRoute = (own: "read" | "change", it: RouteDocs) => ({
  own,
  parse: "none" as const,
  detail: {
    ...detailOf("Own", it),
    security: [{ session: [] }, ...(own === "read" ? [{ clientKey: [] }] : [])],
  },
});

/**
 * Common to all routes of the admin API: the role, a body that is read by hand (the framework's validation would
 * repeat it in the answer), and documentation. Each route gets a copy: Elysia writes its app's check into the object,
 * and another app in the process would then ask the first app's.
 */
export const adminRoute = (tag: string) => (it: RouteDocs) => ({
  access: { role: it.role ?? "administrator", scopes: it.scopes ?? [] } satisfies Access,
  parse: "none" as const,
  detail: { ...detailOf(`Admin: ${tag}`, it), security: [{ adminKey: [] }, { session: [] }] },
});

const detailOf = (tag: string, it: RouteDocs) => ({
  tags: [tag],
  summary: it.summary,
  ...(it.description && { description: it.description }),
  ...(it.query && { parameters: Object.entries(it.query).map(parameter) }),
  ...(it.body && { requestBody: { required: true, content: json(it.body) } }),
  ...(it.file && { requestBody: { required: true, content: files(it.file) } }),
  responses: { ...failures(), ...answers(it.answers) },
});

const parameter = ([name, description]: [string, string]) => ({
  name,
  in: "query" as const,
  required: false,
  description,
  schema: { type: "string" as const },
});

/** Through text, because the documentation has no use for TypeBox's symbols. */
const json = (schema: TSchema) => ({ "application/json": { schema: JSON.parse(JSON.stringify(schema)) } });

const files = (kinds: readonly string[]) =>
  Object.fromEntries(kinds.map((kind) => [kind, { schema: { type: "string" as const } }]));

const answers = (given: RouteDocs["answers"]) =>
  Object.fromEntries(
    Object.entries(given).map(([status, schema]) => [
      status,
      schema ? { description: "Done.", content: json(schema) } : { description: "Done." },
    ]),
  );

const failures = () =>
  Object.fromEntries(
    Object.entries(FAILURES).map(([status, description]) => [
      status,
      { description, content: json(Failure) },
    ]),
  );

/** Parameters that every list takes. */
export const LIST_QUERY = {
  limit: "Items per page, 1 to 500. Default: 50.",
  after: "The `next` of the previous page.",
} as const;

/** Parameters of a list's filters by value. */
export const equalQuery = (names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => [name, "Matches this value. A trailing `*` matches values that start with it."]),
  );

/** The restriction of lists of records for everyone but administrators. */
export const OWN_OR_TEAM =
  "A member gets what belongs to themselves, a manager of a team what belongs to it and the teams below; the rest does not exist for them.";

/** Path parameters for the documentation; the framework knows only their names. */
export const noContent = (): Response => new Response(null, { status: 204 });
export const created = (value: unknown): Response => Response.json(value, { status: 201 });
