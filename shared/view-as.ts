import type { Static, TObject } from "@sinclair/typebox";
import { type CamelCased, camelCase } from "./case.ts";

/** A row as the API shows it: only the members that `schema` names. */
export const viewAs = <T extends TObject>(schema: T, row: CamelCased<Static<T>>): Static<T> => {
  const members: Readonly<Record<string, unknown>> = row;
  const view = Object.keys(schema.properties).map((name) => [name, members[camelCase(name)]]);
  // `row`'s type has every member of the schema with the same type, and only schema members are copied.
  return Object.fromEntries(view) as Static<T>;
};
