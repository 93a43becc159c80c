import { Type } from "@sinclair/typebox";
import type { Database } from "#drizzle/database.ts";
import { closed } from "#shared/schema.ts";
import { SessionLinkBody } from "#shared/session-links.ts";
import { GatewayError } from "../errors.ts";
import { readLabels } from "../http/labels.ts";
import { readJson } from "../plugins/body.ts";
import { type CallerCheck, keyed } from "../plugins/client-key.ts";
import { declareLink } from "../stores/session-links.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";
import { plainSchema } from "./model-docs.ts";

export type SessionLinksDeps = RequestBodyDeps & { callers: CallerCheck; database: Pick<Database, "db"> };

const Answer = closed({
  session: Type.String(),
  of: Type.String({ description: "The task's session; if `of` is itself linked, the one it is linked to." }),
  counts: Type.Boolean({
    description: "Whether the session's calls count for this task. A session counts for the first task only.",
  }),
});

const DETAIL = {
  summary: "Declare that an agent's session worked on a task",
  description:
    "The cost of a pull request is that of the session it names and of the sessions linked to it. A declaration is kept as evidence, with the key and the time. Repeating it changes nothing.",
  tags: ["Sessions"],
  security: [{ clientKey: [] }],
  requestBody: { required: true, content: { "application/json": { schema: plainSchema(SessionLinkBody) } } },
  responses: {
    "200": {
      description: "Kept.",
      content: { "application/json": { schema: plainSchema(Answer) } },
    },
    "400": { description: "The body is not valid; the message names the faulty field." },
    "401": { description: "No valid client key." },
    "403": { description: "The session's calls are another person's." },
    "503": { description: "The database is unavailable at the moment." },
  },
};

/** `POST /v1/sessions/links`: which agents' sessions worked on which task. */
export const sessionLinksSurface = (deps: SessionLinksDeps) =>
  keyed(deps, "session-links").post(
    "/v1/sessions/links",
    async ({ request, caller }) => {
      const { session, of, task = null } = await readJson(deps, request, SessionLinkBody);
      const { client } = readLabels(caller.headers, null);
      const declarer = { key: caller.key, client, at: deps.clock.now() };
      const linked = await declareLink(deps.database, { session, of, task }, declarer);
      if (linked === "foreign") throw new GatewayError("session_not_yours");
      return { session, ...linked };
    },
    { clientKey: true, parse: "none", detail: DETAIL },
  );
