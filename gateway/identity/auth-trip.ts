import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { createAuthEndpoint, parseGenericState } from "better-auth/api";
import { generateIdTokenNonce, generateState } from "better-auth/oauth2";
import { fits, open } from "#shared/schema.ts";

/** A schema of the kind that the sign-in library takes (https://standardschema.dev). */
type Standard<T> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { value: T } | { issues: { message: string }[] };
    readonly types?: { input: T; output: T };
  };
};

export const standard = <T extends TSchema>(schema: T): Standard<Static<T>> => ({
  "~standard": {
    version: 1,
    vendor: "tallygate",
    validate: (value: unknown) =>
      fits(schema, value) ? { value } : { issues: [{ message: "Expected another value." }] },
  },
});

const Leaving = Type.Object({
  way: Type.String(),
  /** Path that the browser is to see in the end. */
  callbackURL: Type.String(),
});

/**
 * A browser leaves for an identity provider: what its return needs goes into an encrypted cookie of this browser, valid
 * for ten minutes. The endpoint has no path, so it has no address.
 */
export const leave = createAuthEndpoint({ method: "POST", body: standard(Leaving) }, async (ctx) => {
  const nonce = generateIdTokenNonce({ requiresIdTokenNonce: true });
  const { way } = ctx.body;
  const { state, codeVerifier } = await generateState(ctx, {
    additionalData: { way },
    ...(nonce !== undefined && { idTokenNonce: nonce }),
  });
  return ctx.json({ state, codeVerifier, nonce: nonce ?? "" });
});

const Kept = open({
  way: Type.String(),
  callbackURL: Type.String(),
  codeVerifier: Type.String(),
  idTokenNonce: Type.String(),
});
export type Kept = Static<typeof Kept>;

/** It comes back: what its cookie keeps for this state; null: the state is not this browser's, or is too old. */
export const comeBack = createAuthEndpoint(
  { method: "POST", body: standard(Type.Object({ state: Type.String() })) },
  async (ctx) => {
    // It reads only the cookie, so every error is a fault of the returned data.
    const kept: unknown = await parseGenericState(ctx, ctx.body.state).catch(() => null);
    return ctx.json(fits(Kept, kept) ? kept : null);
  },
);
