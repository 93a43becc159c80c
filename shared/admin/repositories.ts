import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, Integer, nullable, oneOf, Text, TextOrNull } from "../schema.ts";
import { Instant } from "./fields.ts";

const Window = closed({
  from: Text("When the App first saw the repository, as far as it knows."),
  until: TextOrNull("When that ended; null if the App still sees it."),
  end: nullable(oneOf(["removed", "suspended", "uninstalled"])),
});

/** How far the App has read it. */
export const RepositoryReading = closed({
  phase: oneOf(["idle", "pulls", "reviews"]),
  pull_requests: Integer("Read in the current or the last pass."),
  reviews: Type.Integer(),
  read_up_to: TextOrNull("Everything changed up to this time has been read; null until the first pass ends."),
  finished_at: nullable(Type.String()),
  due_at: Text("When the next pass starts or resumes."),
  failure: TextOrNull("Why the pass is waiting."),
});

export const RepositoryView = closed({
  id: Text("GitHub's id, which survives renames and transfers."),
  name: Text("Last known `owner/name`."),
  former_names: Type.Array(Type.String()),
  installation_id: nullable(Type.Integer()),
  account: nullable(Type.String()),
  missing_permissions: Type.Array(Type.String(), {
    description: "What the settings need and its account has not accepted, e.g. `checks: write`.",
  }),
  covered: Flag("Whether the App sees it now."),
  windows: Type.Array(Window),
  pull_requests: Type.Integer(),
  merged: Type.Integer(),
  joined: Integer("Merged ones whose session is known."),
  reading: nullable(RepositoryReading),
});
export type RepositoryView = Static<typeof RepositoryView>;

export const BackfillBody = closed({
  since: Type.Optional(Instant("Read pull requests changed since then. Default: all.")),
  repository: Type.Optional(
    Type.String({ minLength: 3, maxLength: 255, description: "`owner/name`. Default: all." }),
  ),
});
export type BackfillBody = Static<typeof BackfillBody>;

export const BackfillView = closed({
  repositories: Integer("Repositories to be read again."),
});
