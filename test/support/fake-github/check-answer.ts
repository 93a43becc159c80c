import type { ValidateFunction } from "ajv/dist/2020.js";
import openapi from "../../fixtures/github/openapi.generated.json";
import { compiledSchemas } from "../compiled-schemas.ts";
import type { Operation } from "./operations.ts";

const compiled = compiledSchemas("github-answers", JSON.stringify({ components: openapi.components }));

const answers = openapi.answers as unknown as Record<string, object | null | undefined>;
const checks = new Map<string, ValidateFunction | null>();

/** GitHub sends null for the repository of a head that was deleted; its own description does not say so. */
const isKnownGap = (path: string) => /\/head\/repo$/.test(path);

/** Where an answer departs from GitHub's own description of it. */
export function answerFaults(operation: Operation, status: number, body: unknown): string[] {
  // Its answers are described by another schema.
  if (operation === "POST /graphql") return [];
  const name = `${operation} ${status}`;
  if (!checks.has(name)) checks.set(name, checkOf(name));
  const check = checks.get(name);
  if (!check || check(body)) return [];
  return (check.errors ?? [])
    .filter((it) => !isKnownGap(it.instancePath))
    .map((it) => `${name}${it.instancePath}: ${it.message}`);
}

function checkOf(name: string): ValidateFunction | null {
  if (!(name in answers)) throw new Error(`GitHub describes no answer ${name}`);
  const schema = answers[name];
  if (!schema) return null;
  const text = JSON.stringify(schema).replaceAll('"#/components', '"github-answers#/components');
  return compiled(JSON.parse(text));
}
