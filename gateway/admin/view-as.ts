import type { Static, TObject } from "@sinclair/typebox";
import { type CamelCased, camelCase } from "#shared/case.ts";

/** A row as the API shows it: the members that `schema` names, and no others. */
export const viewAs = <T extends TObject>(schema: T, row: CamelCased<Static<T>>): Static<T> => {
  const members: Readonly<Record<string, unknown>> = row;
  const view = Object.keys(schema.properties).map((name) => [name, members[camelCase(name)]]);
  // Each member has the type that the row's has, by the type of `row`.
  return Object.fromEntries(view) as Static<T>;
};
