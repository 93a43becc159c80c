import type { DocumentDecoration } from "elysia";

/** What an answer of each status means; with a schema, also its body. */
type Answers = Readonly<Record<number, string | readonly [meaning: string, schema: object]>>;
type Content = Record<string, { schema: object; example?: object }>;

type Documented = {
  tag: string;
  description?: string;
  /** Any of these opens the address; null: it is not about credentials. Default: a client key. */
  by?: readonly string[] | null;
  parameters?: DocumentDecoration["parameters"];
  body?: Content;
  answers: Answers;
};

/** The text that several addresses have for a status. */
export const NO_CLIENT_KEY = { 401: "No valid client key." } as const;
export const NO_DATABASE = { 503: "The database is unavailable at the moment." } as const;

type Docs = DocumentDecoration & Required<Pick<DocumentDecoration, "summary" | "responses">>;

export function documented(summary: string, it: Documented): Docs {
  const { tag, description, by = ["clientKey"], parameters, body, answers } = it;
  return {
    summary,
    ...(description && { description }),
    tags: [tag],
    ...(by && { security: by.map((name) => ({ [name]: [] })) }),
    ...(parameters && { parameters }),
    ...(body && { requestBody: { required: true, content: body } }),
    responses: answersOf(answers),
  };
}

const answersOf = (answers: Answers) =>
  Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => {
      const [description, schema] = typeof answer === "string" ? [answer] : answer;
      return [status, { description, ...(schema && { content: jsonOf(schema) }) }];
    }),
  );

/** A body in JSON. */
export const jsonOf = (schema: object) => ({ "application/json": { schema: plainSchema(schema) } });

/** A JSON object of any members, and one to try. */
export const jsonBody = (example: object) => ({
  "application/json": { schema: { type: "object" as const, additionalProperties: true }, example },
});

/** A schema for the documentation, which has no use for TypeBox's symbols. */
export const plainSchema = (schema: object) => JSON.parse(JSON.stringify(schema));

/** A form's fields and their meanings; null for a file. */
export const formSchema = (fields: Readonly<Record<string, string | null>>) => ({
  type: "object" as const,
  properties: Object.fromEntries(
    Object.entries(fields).map(([name, description]) => [
      name,
      { type: "string" as const, ...(description === null ? { format: "binary" } : { description }) },
    ]),
  ),
});

export const formBody = (fields: Readonly<Record<string, string | null>>) => ({
  "multipart/form-data": { schema: formSchema(fields) },
});
