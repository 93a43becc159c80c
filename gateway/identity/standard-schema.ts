import type { Static, TSchema } from "@sinclair/typebox";
import { fits } from "#shared/schema.ts";

/** A schema of the kind that the sign-in library takes (https://standardschema.dev). */
export type Standard<T> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { value: T } | { issues: { message: string }[] };
    readonly types?: { input: T; output: T };
  };
};

/** `schema` in that form. */
export const standard = <T extends TSchema>(schema: T): Standard<Static<T>> => ({
  "~standard": {
    version: 1,
    vendor: "tallygate",
    validate: (value: unknown) =>
      fits(schema, value) ? { value } : { issues: [{ message: "Expected another value." }] },
  },
});
