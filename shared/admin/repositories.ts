import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, oneOf } from "../schema.ts";
import { Instant } from "./fields.ts";

const Window = closed({
  from: Type.String({ description: "When the App began to see the repository, as far as it knows." }),
  until: nullable(Type.String({ description: "When that ended; null: it sees it now." })),
  end: nullable(oneOf(["removed", "suspended", "uninstalled"])),
});

const Reading = closed({
  phase: oneOf(["idle", "pulls", "reviews"]),
  pull_requests: Type.Integer({ description: "Read in the pass under way, or in the last one." }),
  reviews: Type.Integer(),
  read_up_to: nullable(
    Type.String({ description: "All that changed up to here was read; null: the first pass is not over." }),
  ),
  finished_at: nullable(Type.String()),
  due_at: Type.String({ description: "When the next pass begins, or goes on." }),
  failure: nullable(Type.String({ description: "What holds the pass up." })),
});

/** A repository that the GitHub App sees or saw. */
export const RepositoryView = closed({
  id: Type.String({ description: "GitHub's id, which renames and transfers keep." }),
  name: Type.String({ description: "`owner/name` as last heard." }),
  former_names: Type.Array(Type.String()),
  installation_id: nullable(Type.Integer()),
  account: nullable(Type.String()),
  covered: Type.Boolean({ description: "Whether the App sees it now." }),
  windows: Type.Array(Window),
  pull_requests: Type.Integer(),
  merged: Type.Integer(),
  joined: Type.Integer({ description: "Merged ones whose session is known." }),
  reading: nullable(Reading),
});
export type RepositoryView = Static<typeof RepositoryView>;

export const BackfillBody = closed({
  since: Type.Optional(Instant("Read pull requests that changed since then; absent: all of them.")),
  repository: Type.Optional(
    Type.String({ minLength: 3, maxLength: 255, description: "`owner/name`; absent: all." }),
  ),
});
export type BackfillBody = Static<typeof BackfillBody>;

export const BackfillView = closed({
  repositories: Type.Integer({ description: "Repositories that are read again." }),
});
