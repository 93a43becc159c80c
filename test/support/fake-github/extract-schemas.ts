/**
 * `bun test/support/fake-github/extract-schemas.ts FILE VERSION`: writes the schemas of the answers that the stand-in
 * gives, taken from `generated/api.github.com.json` of the package `@octokit/openapi`. The package itself is 390 MB,
 * which nobody should download for it.
 */
import { join } from "node:path";
import { OPERATIONS } from "./operations.ts";

type Json = { [member: string]: unknown };

const [file = "", version = ""] = process.argv.slice(2);
const whole = (await Bun.file(file).json()) as {
  paths: Record<string, Record<string, Json>>;
  components: { schemas: Record<string, unknown>; responses: Record<string, Json> };
};

/** Words that explain; validation does not need them. */
const PROSE = new Set([
  "description",
  "example",
  "examples",
  "title",
  "externalDocs",
  "deprecated",
  "x-github",
]);

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

function withoutProse(value: unknown, isMap = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutProse(item));
  if (!isObject(value)) return value;
  const { nullable, ...members } = value;
  const kept = Object.fromEntries(
    Object.entries(isMap ? value : members)
      .filter(([name]) => isMap || !PROSE.has(name))
      .map(([name, member]) => [name, withoutProse(member, !isMap && name === "properties")]),
  );
  // OpenAPI 3.0's word for it is not one of JSON Schema.
  return !isMap && nullable === true ? { anyOf: [kept, { type: "null" }] } : kept;
}

const needed = new Map<string, unknown>();

function collect(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) collect(item);
  if (!isObject(value)) return;
  const name = String(value["$ref"] ?? "").match(/^#\/components\/schemas\/(.+)$/)?.[1];
  if (name !== undefined && !needed.has(name)) {
    needed.set(name, withoutProse(whole.components.schemas[name]));
    collect(needed.get(name));
  }
  for (const member of Object.values(value)) collect(member);
}

/** The package demands a user that is an enterprise as well; what a single installation looks like holds for lists too. */
const MENDED: Record<string, unknown> = {
  "GET /app/installations 200": { type: "array", items: { $ref: "#/components/schemas/installation" } },
};

const answers: Record<string, unknown> = {};
for (const operation of OPERATIONS) {
  const [method = "", path = ""] = operation.split(" ");
  const responses = whole.paths[path]?.[method.toLowerCase()]?.["responses"];
  if (!isObject(responses)) throw new Error(`${operation} is not in ${file}`);
  for (const [status, response] of Object.entries(responses)) {
    const reference =
      String(isObject(response) ? (response["$ref"] ?? "") : "")
        .split("/")
        .at(-1) ?? "";
    const found = reference === "" ? response : whole.components.responses[reference];
    const content = isObject(found) ? found["content"] : undefined;
    const json = isObject(content) ? content["application/json"] : undefined;
    const name = `${operation} ${status}`;
    const schema = MENDED[name] ?? (isObject(json) ? withoutProse(json["schema"]) : null);
    collect(schema);
    answers[name] = schema;
  }
}

const schemas = Object.fromEntries([...needed].sort(([a], [b]) => (a < b ? -1 : 1)));
await Bun.write(
  join(import.meta.dir, "../../fixtures/github/openapi.generated.json"),
  `${JSON.stringify({ source: `@octokit/openapi ${version}, api.github.com`, answers, components: { schemas } })}\n`,
);
