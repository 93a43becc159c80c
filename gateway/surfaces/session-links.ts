import { Type } from "@sinclair/typebox";
import type { Db } from "#drizzle/database.ts";
import { closed, Flag, Text } from "#shared/schema.ts";
import { SessionLinkBody, SessionLinksView, UnlinkBody } from "#shared/session-links.ts";
import { GatewayError } from "../errors.ts";
import { readLabels } from "../http/labels.ts";
import { readJson } from "../plugins/body.ts";
import { type CallerCheck, keyed } from "../plugins/client-key.ts";
import { declareLink, listLinks, removeLink } from "../stores/session-links.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";
import { documented, jsonOf, NO_CLIENT_KEY, NO_DATABASE } from "./documented.ts";

export type SessionLinksDeps = RequestBodyDeps & { callers: CallerCheck; database: Db };

const Answer = closed({
  session: Type.String(),
  of: Text("The task's session; if `of` is itself linked, the one it is linked to."),
  counts: Flag(
    "Whether the declarer's calls in the session count for this task: for the first one only, and for another person's only with evidence of the same repository and branch, or if the declarer is the author of a pull request that names it.",
  ),
});

const DETAIL = documented("Declare that an agent's session worked on a task", {
  tag: "Sessions",
  description:
    "The cost of a pull request is that of the session it names and of the sessions linked to it: of these, the calls made with keys of the declarer. A declaration is kept as evidence, with the key and the time. Repeating it changes nothing.",
  body: jsonOf(SessionLinkBody),
  answers: {
    200: ["Kept.", Answer],
    400: "The body is not valid; the message names the faulty field.",
    ...NO_CLIENT_KEY,
    403: "The session's calls are another person's.",
    ...NO_DATABASE,
  },
});

const UNLINK = documented("Remove the link of a session to a task", {
  tag: "Sessions",
  description:
    "Removes your own link. The owner of either session, which is who made its first call, removes everyone's; these stay as evidence and do not count again.",
  body: jsonOf(UnlinkBody),
  answers: { 204: "Removed.", ...NO_CLIENT_KEY, 404: "You have no such link to remove.", ...NO_DATABASE },
});

const LIST = documented("List links between sessions", {
  tag: "Sessions",
  description:
    "The latest 500 links that you declared, and those from and to your sessions: who declared each, when, with which evidence, and whether it counts. Accepts `session` and `of`.",
  answers: { 200: ["The links.", SessionLinksView], ...NO_CLIENT_KEY, ...NO_DATABASE },
});

/** `/v1/sessions/links`: which agents' sessions worked on which task. */
export const sessionLinksSurface = (deps: SessionLinksDeps) =>
  keyed(deps, "session-links")
    .get(
      "/v1/sessions/links",
      ({ request, caller }) => {
        const { searchParams: query } = new URL(request.url);
        return listLinks(deps.database, caller.key, { session: query.get("session"), of: query.get("of") });
      },
      { clientKey: true, detail: LIST },
    )
    .post(
      "/v1/sessions/links",
      async ({ request, caller }) => {
        const declared = await readJson(deps, request, SessionLinkBody);
        const { client } = readLabels(caller.headers, null);
        const declarer = { key: caller.key, client, at: deps.clock.now() };
        const linked = await declareLink(deps.database, declared, declarer);
        if (linked === "foreign") throw new GatewayError("session_not_yours");
        return { session: declared.session, ...linked };
      },
      { clientKey: true, parse: "none", detail: DETAIL },
    )
    .delete(
      "/v1/sessions/links",
      async ({ request, caller }) => {
        const link = await readJson(deps, request, UnlinkBody);
        const removed = await removeLink(deps.database, link, { key: caller.key, at: deps.clock.now() });
        if (removed === 0) throw new GatewayError("not_found");
        return new Response(null, { status: 204 });
      },
      { clientKey: true, parse: "none", detail: UNLINK },
    );
