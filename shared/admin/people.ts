import { type Static, Type } from "@sinclair/typebox";
import { checked, closed, Flag, matching, nullable, oneOf, Removable, Text, TextOrNull } from "../schema.ts";
import { Dated, SingleLine, Usd } from "./fields.ts";
import { BUDGET_PERIODS, UnpricedField } from "./keys.ts";

/** Roles of people and tokens, the one with the fewest rights first. */
export const ROLES = ["member", "manager", "administrator"] as const;
export type Role = (typeof ROLES)[number];

export const includesRole = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);

/** The role with fewer rights. */
export const lesserRole = (one: Role, other: Role): Role => (includesRole(one, other) ? other : one);

const EMAIL = /^[^\s@<>()[\],;:\\"]+@[^\s@<>()[\],;:\\"]+$/;
const EMAIL_LENGTH_MAX = 128;

/** An e-mail that can also be a key's owner, without characters that no one sees. Case-insensitive: it is stored in lower case. */
export const Email = checked<string>(
  { type: "string", format: "email", maxLength: EMAIL_LENGTH_MAX },
  `an e-mail address of at most ${EMAIL_LENGTH_MAX} characters`,
  (value) =>
    typeof value === "string" &&
    value.length <= EMAIL_LENGTH_MAX &&
    value.isWellFormed() &&
    EMAIL.test(value) &&
    !/[\p{Cc}\p{Cf}]/u.test(value),
);

/** E-mails as stored and compared: in lower case. Letters outside ASCII stay: the Kelvin sign is no `k`. */
export const storedEmail = (email: string): string =>
  email.replace(/[^\u212A\u0130]+/gu, (text) => text.toLowerCase());

/** An owner as keys have it. In SQL, case does not count within ASCII alone, so other e-mails are in lower case from the start. */
export const storedOwner = (owner: string): string =>
  EMAIL.test(owner) && /\P{ASCII}/u.test(owner) ? storedEmail(owner) : owner;

export const RoleField = oneOf(ROLES);
const NAME_LENGTH_MAX = 128;
export const PersonName = SingleLine(NAME_LENGTH_MAX, "Default: the part of the e-mail before the @.");
const name = Type.Optional(PersonName);
const githubLogin = Removable(
  matching("^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$", "the name of an account on GitHub", {
    description: "The person's account on GitHub.",
  }),
);
export const TeamField = nullable(SingleLine(128, "Name of a team."));
const team = Type.Optional(TeamField);
const disabled = Type.Optional(
  Flag("True ends the person's sessions and revokes the person's keys for good."),
);

const budget = {
  budget_usd: Removable(Usd("What all keys of the person may spend together per `budget_period`.")),
  budget_period: Removable(oneOf(BUDGET_PERIODS)),
  unpriced: Removable(UnpricedField),
};

/** `POST /admin/v1/people`. */
export const PersonBody = closed({
  email: Email,
  name,
  github_login: githubLogin,
  role: Type.Optional({ ...RoleField, default: "member" }),
  team,
  ...budget,
  disabled,
});
export type PersonBody = Static<typeof PersonBody>;

/** `PATCH /admin/v1/people/{id}`: absent members are kept. */
export const PersonPatch = closed({
  name,
  github_login: githubLogin,
  role: Type.Optional(RoleField),
  team,
  ...budget,
  disabled,
});
export type PersonPatch = Static<typeof PersonPatch>;

export const PersonView = closed({
  id: Type.String({ format: "uuid" }),
  email: Type.String(),
  name: Type.String(),
  github_login: nullable(Type.String()),
  role: RoleField,
  team: nullable(Type.String()),
  budget_usd: TextOrNull("Exact decimal."),
  budget_period: nullable(oneOf(BUDGET_PERIODS)),
  unpriced: nullable(UnpricedField),
  disabled: Type.Boolean(),
  ...Dated,
});
export type PersonView = Static<typeof PersonView>;

/** An account elsewhere that signs a person in. */
export const LinkedAccount = closed({
  id: Type.String({ format: "uuid" }),
  way: Text("`oidc`, `saml` or `github`."),
  issuer: TextOrNull("OIDC issuer, SAML entity id or GitHub host. Null: not known, so it signs no one in."),
  account_id: Text("The account's id there."),
  created_at: Type.String(),
  updated_at: Text("The last sign-in."),
});
export type LinkedAccount = Static<typeof LinkedAccount>;
/** `PATCH /admin/v1/people/{id}/accounts/{account}`. */
export const AccountMove = closed({
  email: { ...Email, description: "E-mail of the person whom the account signs in from now on." },
});
/** `GET /admin/v1/people/{id}/accounts`, the oldest first. */
export const LinkedAccounts = closed({ data: Type.Array(LinkedAccount) });
