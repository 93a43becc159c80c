import { ScimError } from "./scim-error.ts";

export type ScimQuery = {
  /** Exactly this e-mail; null: everyone. */
  email: string | null;
  /** From 1. */
  startIndex: number;
  count: number;
};

const COUNT_MAX = 200;
const DEFAULT_COUNT = 100;
const USER_NAME =
  /^\s*(?:urn:ietf:params:scim:schemas:core:2\.0:User:)?userName\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i;

/** The parameters of a list (RFC 7644, 3.4.2). @throws ScimError invalidFilter; invalidValue. */
export function readScimQuery(query: URLSearchParams): ScimQuery {
  const filter = query.get("filter");
  return {
    email: filter === null ? null : userNameIn(filter),
    // What is out of range counts as the nearest value.
    startIndex: Math.max(1, integerIn(query, "startIndex", 1)),
    count: Math.min(COUNT_MAX, Math.max(0, integerIn(query, "count", DEFAULT_COUNT))),
  };
}

function userNameIn(filter: string): string {
  const [, quoted] = USER_NAME.exec(filter) ?? [];
  const value: unknown = quoted === undefined ? null : parsed(quoted);
  if (typeof value === "string") return value;
  throw new ScimError("invalidFilter", 'filter: Expected userName eq "…".');
}

function parsed(quoted: string): unknown {
  try {
    return JSON.parse(quoted);
  } catch {
    return null;
  }
}

function integerIn(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new ScimError("invalidValue", `${name}: Expected an integer.`);
}
