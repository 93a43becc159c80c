import { type TSchema, Type } from "@sinclair/typebox";
import { closed } from "#shared/schema.ts";

const Failure = closed({
  error: Type.Object({ type: Type.String(), message: Type.String() }, { additionalProperties: true }),
});

const FAILURES = {
  "400": "A field or parameter is unknown, missing or wrong; the message names it.",
  "401": "No valid admin key.",
  "404": "Not found.",
  "422": "The change conflicts with what exists: a name is taken, or the resource is in use.",
  "503": "The database is unavailable at the moment.",
} as const;

export type RouteDocs = {
  summary: string;
  description?: string;
  body?: TSchema;
  /** Query parameters and their meanings. */
  query?: Readonly<Record<string, string>>;
  /** Status and schema of the answer; null is an answer without a body. */
  answers: Readonly<Record<number, TSchema | null>>;
};

/**
 * Common to all routes of the admin API: the admin key, a body that is read by hand (the framework's validation would
 * repeat it in the answer), and documentation. Each route gets a copy: Elysia writes its app's key check into the object,
 * and another app in the process would then require the first app's key.
 */
export const adminRoute = (tag: string) => (it: RouteDocs) => ({
  adminKey: true as const,
  parse: "none" as const,
  detail: {
    tags: [`Admin: ${tag}`],
    summary: it.summary,
    ...(it.description && { description: it.description }),
    security: [{ adminKey: [] }],
    ...(it.query && { parameters: Object.entries(it.query).map(parameter) }),
    ...(it.body && { requestBody: { required: true, content: json(it.body) } }),
    responses: { ...failures(), ...answers(it.answers) },
  },
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

/** Path parameters for the documentation; the framework knows only their names. */
export const noContent = (): Response => new Response(null, { status: 204 });
export const created = (value: unknown): Response => Response.json(value, { status: 201 });
