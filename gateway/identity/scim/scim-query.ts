import { parsedJson } from "#shared/json.ts";
import { ScimError } from "./scim-error.ts";

export type ScimQuery = {
  /** Of `filter`: the attribute, in lower case, and its value; null: everyone. */
  equal: { attribute: string; value: string } | null;
  /** From 1. */
  startIndex: number;
  count: number;
};

const COUNT_MAX = 200;
const DEFAULT_COUNT = 100;
const EQUAL =
  /^\s*(?:urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):)?(\w+)\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i;

/** The parameters of a list (RFC 7644, 3.4.2), filtered by one of `attributes`. @throws ScimError invalidFilter; invalidValue. */
export function readScimQuery(query: URLSearchParams, attributes: readonly string[]): ScimQuery {
  const filter = query.get("filter");
  return {
    equal: filter === null ? null : equalIn(filter, attributes),
    // What is out of range counts as the nearest value.
    startIndex: Math.max(1, integerIn(query, "startIndex", 1)),
    count: Math.min(COUNT_MAX, Math.max(0, integerIn(query, "count", DEFAULT_COUNT))),
  };
}

function equalIn(filter: string, attributes: readonly string[]): NonNullable<ScimQuery["equal"]> {
  const [, name = "", quoted] = EQUAL.exec(filter) ?? [];
  const value: unknown = quoted === undefined ? null : parsedJson(quoted);
  const attribute = attributes.find((it) => it.toLowerCase() === name.toLowerCase());
  if (typeof value === "string" && attribute !== undefined) return { attribute, value };
  throw new ScimError("invalidFilter", `filter: Expected ${attributes.join(" or ")} eq "…".`);
}

function integerIn(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new ScimError("invalidValue", `${name}: Expected an integer.`);
}
