import { Type } from "@sinclair/typebox";
import { checked, nullable, open } from "#shared/schema.ts";
import { isSingleLine } from "#shared/text-length.ts";

/** The members that are read of GitHub's payloads. Optional ones are missing from older servers or some actions. */
const isName = (value: unknown): value is string => typeof value === "string" && isSingleLine(value, 255);

const Name = checked<string>({ type: "string" }, "a name", isName);
const FullName = checked<string>(
  { type: "string" },
  "owner/name",
  (value) => isName(value) && /^[^/\s]+\/[^/\s]+$/.test(value),
);
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Number32 = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

/** GitHub writes times as RFC 3339, with any offset, or as whole seconds since 1970. */
export type Time = string | number;
const Time = checked<Time>({}, "a time", (value) => instantOf(value) !== null);

/** RFC 3339 in UTC with milliseconds; null for anything that is not a time of a four-digit year. */
export function instantOf(value: unknown): string | null {
  if (typeof value !== "string" && typeof value !== "number") return null;
  const date = new Date(typeof value === "number" ? value * 1000 : value);
  if (Number.isNaN(date.getTime())) return null;
  const text = date.toISOString();
  return /^\d{4}-/.test(text) ? text : null;
}

const Body = nullable(Type.String());
const Size = Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 }));
const Account = nullable(open({ login: Name, type: Type.Optional(Type.String()) }));
const isPrivate = Type.Optional(Type.Boolean());
const Repository = open({ id: Id, full_name: FullName, private: isPrivate });
const Installed = Type.Optional(nullable(open({ id: Id })));
const BodyChange = Type.Optional(open({ body: Type.Optional(Type.Unknown()) }));

export const PullRequestPayload = open({
  action: Name,
  installation: Installed,
  repository: Repository,
  changes: BodyChange,
  pull_request: open({
    number: Number32,
    state: Type.String(),
    merged: nullable(Type.Boolean()),
    merged_at: nullable(Time),
    merge_commit_sha: Type.Optional(nullable(Type.String())),
    created_at: Time,
    updated_at: Time,
    user: Account,
    body: Body,
    author_association: Type.Optional(Name),
    // The repository of a fork that was deleted is null.
    base: Type.Optional(
      open({
        ref: Type.String(),
        repo: Type.Optional(open({ default_branch: Type.Optional(Type.String()) })),
      }),
    ),
    // Lists do not have these.
    additions: Size,
    deletions: Size,
    changed_files: Size,
    head: open({
      ref: Type.String(),
      repo: Type.Optional(nullable(open({ id: Id, full_name: Type.Optional(FullName) }))),
    }),
  }),
});

export const ReviewPayload = open({
  action: Name,
  installation: Installed,
  repository: Repository,
  changes: BodyChange,
  pull_request: open({ number: Number32, updated_at: Time }),
  review: open({
    id: Id,
    user: Account,
    body: Body,
    state: Type.String(),
    submitted_at: nullable(Time),
    updated_at: Type.Optional(nullable(Time)),
  }),
});

const InstallationBody = open({
  id: Id,
  account: open({ id: Id, login: Name }),
  created_at: Time,
  updated_at: Time,
  suspended_at: Type.Optional(nullable(Time)),
  permissions: Type.Optional(
    Type.Record(Type.String({ pattern: "^\\w+$" }), Name, { additionalProperties: false }),
  ),
});

export const InstallationPayload = open({
  action: Name,
  installation: InstallationBody,
  repositories: Type.Optional(Type.Array(Repository)),
});

export const InstallationRepositoriesPayload = open({
  action: Name,
  installation: open({ id: Id }),
  repositories_added: Type.Array(Repository),
  repositories_removed: Type.Array(Repository),
});

const From = open({ login: Name });

export const RepositoryPayload = open({
  action: Name,
  installation: Installed,
  repository: open({ id: Id, full_name: FullName, private: isPrivate, updated_at: Time }),
  changes: Type.Optional(
    open({
      repository: Type.Optional(open({ name: open({ from: Name }) })),
      owner: Type.Optional(
        open({
          from: open({
            user: Type.Optional(nullable(From)),
            organization: Type.Optional(nullable(From)),
          }),
        }),
      ),
    }),
  ),
});
