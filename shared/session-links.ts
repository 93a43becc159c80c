import { type Static, Type } from "@sinclair/typebox";
import { LABEL_MAX, parseSessionId } from "./labels.ts";
import { checked, closed } from "./schema.ts";
import { isSingleLine } from "./text-length.ts";

const TASK_MAX = 256;
const REPOSITORY_MAX = 200;

const Session = (description: string) =>
  checked<string>(
    { type: "string", maxLength: LABEL_MAX.session, description },
    "a session id: 1 to 64 letters, digits, and . _ : -",
    (value) => typeof value === "string" && parseSessionId(value) !== null,
  );

/** `POST /v1/sessions/links`. */
export const SessionLinkBody = closed({
  session: Session("The agent's own session."),
  of: Session("The session of the task that it worked on: the one that the task's pull request names."),
  task: Type.Optional(
    checked<string>(
      { type: "string", maxLength: TASK_MAX, description: "The task, such as its branch. Kept as evidence." },
      `a line of 1 to ${TASK_MAX} characters`,
      (value) => typeof value === "string" && isSingleLine(value, TASK_MAX),
    ),
  ),
  repository: Type.Optional(
    checked<string>(
      {
        type: "string",
        maxLength: REPOSITORY_MAX,
        description: "The repository, as `owner/name`, where the agent's hook or `tallygate` ran.",
      },
      "a repository as owner/name",
      (value) =>
        typeof value === "string" && value.length <= REPOSITORY_MAX && /^[^/\s]+\/[^/\s]+$/.test(value),
    ),
  ),
  branch: Type.Optional(
    checked<string>(
      {
        type: "string",
        maxLength: TASK_MAX,
        description:
          "The branch checked out there. With the same repository and branch as the task's owner declared, the link counts for another person's task.",
      },
      `a line of 1 to ${TASK_MAX} characters`,
      (value) => typeof value === "string" && isSingleLine(value, TASK_MAX),
    ),
  ),
});
export type SessionLinkBody = Static<typeof SessionLinkBody>;

/** `DELETE /v1/sessions/links`. */
export const UnlinkBody = closed({
  session: Session("The linked session."),
  of: Session("The session of the task that it is linked to."),
});
export type UnlinkBody = Static<typeof UnlinkBody>;
