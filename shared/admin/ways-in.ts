import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, nullable } from "../schema.ts";

const provider = (description: string) => nullable(closed({ name: Type.String({ description }) }));

/** `GET /auth/ways-in`. */
export const WaysIn = closed({
  github: Flag("Whether `GET /auth/sign-in/github` signs in."),
  oidc: provider("Host of the issuer; `GET /auth/sign-in/oidc` signs in."),
  saml: provider("Host of the identity provider; `GET /auth/sign-in/saml` signs in."),
  off: Type.Array(closed({ way: Type.String(), reason: Type.String() }), {
    description: "Ways that are configured and do not sign anyone in.",
  }),
  one_time_link: Flag("Always true: links are made by administrators."),
});
export type WaysIn = Static<typeof WaysIn>;
