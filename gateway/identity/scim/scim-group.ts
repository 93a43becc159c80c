import { SingleLine } from "#shared/admin/fields.ts";
import { Group } from "#shared/admin/role-mappings.ts";
import { SCIM_SCHEMAS, type ScimPatch } from "#shared/admin/scim.ts";
import { isRecord } from "#shared/json.ts";
import { fits, nullable } from "#shared/schema.ts";
import type { ScimGroupRow, ScimMember } from "../../stores/identity/scim-groups.ts";
import { ScimError } from "./scim-error.ts";

/** A group as SCIM shows it; `members` null: they are left out. */
export const scimGroup = (row: ScimGroupRow, members: readonly ScimMember[] | null, base: string) => ({
  schemas: [SCIM_SCHEMAS.group],
  id: row.id,
  displayName: row.name,
  ...(row.externalId !== null && { externalId: row.externalId }),
  ...(members && {
    members: members.map(({ id, email }) => ({
      value: id,
      display: email,
      $ref: `${base}/scim/v2/Users/${id}`,
    })),
  }),
  meta: {
    resourceType: "Group",
    created: row.createdAt.toISOString(),
    lastModified: row.updatedAt.toISOString(),
    location: `${base}/scim/v2/Groups/${row.id}`,
  },
});

export type GroupFacts = { name: string; externalId: string | null; members: ReadonlySet<string> };

const ExternalId = nullable(SingleLine(256));
const MEMBER = /^members\s*\[\s*value\s+eq\s+"([^"]*)"\s*\]$/i;

/** The group after a change (RFC 7644, 3.5.2), as Okta and Entra write it. @throws ScimError invalidSyntax; invalidValue. */
export function changedGroup(group: GroupFacts, { Operations: operations }: ScimPatch): GroupFacts {
  return operations.reduce<GroupFacts>((current, { op, path, value }) => {
    const kind = op.toLowerCase();
    if (!["add", "replace", "remove"].includes(kind)) {
      throw new ScimError("invalidSyntax", "op: Expected one of add, replace, remove.");
    }
    if (path !== undefined) return changedAt(current, kind, { path, value });
    if (!isRecord(value)) {
      throw new ScimError("invalidSyntax", "value: Expected an object, because there is no path.");
    }
    return Object.entries(value).reduce(
      (it, [name, one]) => changedAt(it, kind, { path: name, value: one }),
      current,
    );
  }, group);
}

function changedAt(group: GroupFacts, kind: string, { path, value }: { path: string; value: unknown }) {
  const [, one] = MEMBER.exec(path) ?? [];
  const name = path.replace(/^urn:.*:Group:/i, "").toLowerCase();
  if (one !== undefined && kind === "remove") return { ...group, members: without(group.members, [one]) };
  if (name === "members") return { ...group, members: membersAfter(group.members, kind, value) };
  if (name === "displayname" && kind !== "remove") return { ...group, name: checked(Group, value, path) };
  if (name === "externalid") {
    return { ...group, externalId: kind === "remove" ? null : checked(ExternalId, value, path) };
  }
  // A group has nothing else: it is accepted and not stored.
  return group;
}

function membersAfter(members: ReadonlySet<string>, kind: string, value: unknown): ReadonlySet<string> {
  if (kind === "remove" && value === undefined) return new Set();
  const ids = [value ?? []].flat().map((it) => (isRecord(it) ? it["value"] : it));
  if (!ids.every((it) => typeof it === "string")) {
    throw new ScimError("invalidValue", "members: Expected objects with the id of a user as value.");
  }
  if (kind === "remove") return without(members, ids);
  return new Set([...(kind === "add" ? members : []), ...ids]);
}

const without = (members: ReadonlySet<string>, ids: readonly string[]): ReadonlySet<string> =>
  new Set([...members].filter((id) => !ids.includes(id)));

function checked<T extends typeof Group | typeof ExternalId>(schema: T, value: unknown, path: string) {
  if (fits(schema, value)) return value;
  throw new ScimError("invalidValue", `${path}: Expected one line of at most 256 characters.`);
}
