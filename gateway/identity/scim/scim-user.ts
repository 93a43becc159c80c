import { SingleLine } from "#shared/admin/fields.ts";
import { Email, storedEmail } from "#shared/admin/people.ts";
import { SCIM_SCHEMAS, type ScimPatch, type ScimUserBody } from "#shared/admin/scim.ts";
import { isRecord } from "#shared/json.ts";
import { fits } from "#shared/schema.ts";
import { CONTROL } from "#shared/text-length.ts";
import type { PersonRow } from "../../stores/identity/people.ts";
import { ScimError } from "./scim-error.ts";

/** A directory's facts about a person; absent: not stated. */
export type ScimFacts = { userName?: string; name?: string; disabled?: boolean };

/** A person as a SCIM user; `base` is the address of the gateway. */
export const scimUser = (person: PersonRow, base: string) => ({
  schemas: [SCIM_SCHEMAS.user],
  id: person.id,
  userName: person.email,
  displayName: person.name,
  name: { formatted: person.name },
  emails: [{ value: person.email, type: "work", primary: true }],
  active: !person.disabled,
  meta: {
    resourceType: "User",
    created: person.createdAt.toISOString(),
    lastModified: person.updatedAt.toISOString(),
    location: `${base}/scim/v2/Users/${person.id}`,
  },
});

/** The facts of a whole user. @throws ScimError invalidValue */
export const factsOfUser = ({ userName, displayName, name, active }: ScimUserBody): ScimFacts =>
  collected({ userName, displayName, name, active });

/** The facts of a change, the last of each counting. @throws ScimError invalidSyntax; invalidValue. */
export function factsOfPatch({ Operations: operations }: ScimPatch): ScimFacts {
  const members: Record<string, unknown> = {};
  for (const { op, path, value } of operations) {
    const kind = op.toLowerCase();
    if (!["add", "replace", "remove"].includes(kind)) {
      throw new ScimError("invalidSyntax", "op: Expected one of add, replace, remove.");
    }
    // Nothing that a person has can be removed.
    if (kind === "remove") continue;
    if (path !== undefined) members[path] = value;
    else if (isRecord(value)) Object.assign(members, value);
    else throw new ScimError("invalidSyntax", "value: Expected an object, because there is no path.");
  }
  return collected(members);
}

/** Names of attributes may be in any case, and have the schema in front. */
const attributeOf = (name: string): string => {
  const prefix = `${SCIM_SCHEMAS.user}:`.toLowerCase();
  const lower = name.toLowerCase();
  return lower.startsWith(prefix) ? lower.slice(prefix.length) : lower;
};

function collected(given: Readonly<Record<string, unknown>>): ScimFacts {
  const members = new Map(Object.entries(given).map(([name, value]) => [attributeOf(name), value]));
  const userName = members.get("username");
  const active = members.get("active");
  const name = nameIn(members);
  return {
    ...(userName !== undefined && { userName: emailOf(userName) }),
    ...(name !== null && { name }),
    ...(active !== undefined && { disabled: !truthOf(active) }),
  };
}

const DisplayName = SingleLine(128);

/** The first of the forms of a name that there is; null: none. */
function nameIn(members: ReadonlyMap<string, unknown>): string | null {
  const parts = members.get("name");
  const part = (name: string): unknown =>
    members.get(`name.${name.toLowerCase()}`) ?? (isRecord(parts) ? parts[name] : undefined);
  const [given, family] = [part("givenName"), part("familyName")];
  const both = typeof given === "string" && typeof family === "string" ? `${given} ${family}` : null;
  const found = [members.get("displayname"), part("formatted"), both]
    // Marks within a copied name must not keep its person from being switched off.
    .map((it) => (typeof it === "string" ? it.split(CONTROL).join("") : ""))
    .find((it) => it.trim() !== "");
  if (found === undefined) return null;
  if (fits(DisplayName, found)) return found;
  throw new ScimError("invalidValue", "displayName: Expected one line of at most 128 characters.");
}

function emailOf(value: unknown): string {
  if (fits(Email, value)) return storedEmail(value);
  throw new ScimError("invalidValue", "userName: Expected the person's e-mail address.");
}

/** Entra sends truth values as texts. */
function truthOf(value: unknown): boolean {
  const text = String(value).toLowerCase();
  if (text === "true") return true;
  if (text === "false") return false;
  throw new ScimError("invalidValue", "active: Expected true or false.");
}
