import { type Static, Type } from "@sinclair/typebox";
import { closed, oneOf, Text } from "../schema.ts";
import { SingleLine } from "./fields.ts";
import { Email } from "./people.ts";

export const SIGN_IN_LINK_MINUTES = 15;

/** `POST /admin/v1/sign-in-links`. */
export const SignInLinkBody = closed({
  email: Type.Optional({
    ...Email,
    description:
      "Who may sign in. Absent: the first administrator, and only while there is no administrator.",
  }),
  role: Type.Optional({
    ...oneOf(["member"]),
    description: "Role of a new person; known people keep theirs.",
  }),
});

/** Its answer. */
export const SignInLink = closed({
  url: Text("Signs in once."),
  expires_at: Text("RFC 3339."),
});
export type SignInLink = Static<typeof SignInLink>;

/** `POST /auth/sign-in/link`. */
export const RedeemBody = closed({
  token: Type.String({ minLength: 1, maxLength: 200, description: "The link's `token`." }),
  email: Type.Optional({
    ...Email,
    description: "The first administrator's e-mail, if the link names no one. Default: admin@localhost.",
  }),
  name: Type.Optional(SingleLine(128, "Of the first administrator.")),
});
export type RedeemBody = Static<typeof RedeemBody>;

export const SignedIn = closed({ email: Type.String(), role: Type.String() });
