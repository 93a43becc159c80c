import { type Static, Type } from "@sinclair/typebox";
import { LABEL_MAX, parseSessionId } from "./labels.ts";
import { checked, closed, Flag, nullable, Text, TextOrNull } from "./schema.ts";
import { isSingleLine } from "./text-length.ts";

const TASK_MAX = 256;
const REPOSITORY_MAX = 200;

const Session = (description: string) =>
  checked<string>(
    { type: "string", maxLength: LABEL_MAX.session, description },
    "a session id: 1 to 64 letters, digits, and . _ : -",
    (value) => typeof value === "string" && parseSessionId(value) !== null,
  );

const TaskLine = (description: string) =>
  checked<string>(
    { type: "string", maxLength: TASK_MAX, description },
    `a line of 1 to ${TASK_MAX} characters`,
    (value) => typeof value === "string" && isSingleLine(value, TASK_MAX),
  );

const Repository = checked<string>(
  {
    type: "string",
    maxLength: REPOSITORY_MAX,
    description: "The repository, as `owner/name`, where the agent's hook or `tallygate` ran.",
  },
  "a repository as owner/name",
  (value) => typeof value === "string" && value.length <= REPOSITORY_MAX && /^[^/\s]+\/[^/\s]+$/.test(value),
);

/** `POST /v1/sessions/contexts`. */
export const SessionContextBody = closed({
  session: Session("The agent's own session."),
  branch: TaskLine("The branch that it works on from now on."),
  repository: Repository,
});
export type SessionContextBody = Static<typeof SessionContextBody>;

/** `POST /v1/sessions/links`. */
export const SessionLinkBody = closed({
  session: Session("The agent's own session."),
  of: Session("The session of the task that it worked on: the one that the task's pull request names."),
  task: Type.Optional(TaskLine("The task, such as its branch. Kept as evidence.")),
  repository: Type.Optional(Repository),
  branch: Type.Optional(
    TaskLine(
      "The branch checked out there. With the same repository and branch as the task's owner declared, the link counts for another person's task.",
    ),
  ),
  clone: Type.Optional(
    Session("An opaque id of the clone, in the form of a session id; it distinguishes clones."),
  ),
});
export type SessionLinkBody = Static<typeof SessionLinkBody>;

/** `DELETE /v1/sessions/links`. */
export const UnlinkBody = closed({
  session: Session("The linked session."),
  of: Session("The session of the task that it is linked to."),
});
export type UnlinkBody = Static<typeof UnlinkBody>;

const Evidence = nullable(Type.String());

/** A link as `GET /v1/sessions/links` shows it. */
export const SessionLinkView = closed({
  session: Type.String(),
  of: Text("The session of the task."),
  declarer: Text("The owner of the key that declared it, or the id of a key without one."),
  counts: Flag("Whether the declarer's calls in the session count for the task now."),
  task: Evidence,
  repository: Evidence,
  branch: Evidence,
  clone: Evidence,
  client: Text("The client that declared it."),
  declared_at: Type.String(),
  removed_at: TextOrNull("When the owner of either session removed it."),
});
export type SessionLinkView = Static<typeof SessionLinkView>;
export const SessionLinksView = closed({
  data: Type.Array(SessionLinkView, { maxItems: 500, description: "Newest first." }),
  has_more: Type.Boolean(),
});
