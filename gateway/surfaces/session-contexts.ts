import { Type } from "@sinclair/typebox";
import { closed, Text } from "#shared/schema.ts";
import { SessionContextBody } from "#shared/session-links.ts";
import { readLabels } from "../http/labels.ts";
import { readJson } from "../plugins/body.ts";
import { keyed } from "../plugins/client-key.ts";
import { declareContext } from "../stores/session-contexts.ts";
import { documented, jsonOf, NO_CLIENT_KEY, NO_DATABASE } from "./documented.ts";
import type { SessionLinksDeps } from "./session-links.ts";

const Answer = closed({
  session: Type.String(),
  branch: Type.String(),
  repository: Type.String(),
  since: Text("When it was declared, by the gateway's clock."),
});

const DETAIL = documented("Declare which branch an agent's session works on", {
  tag: "Sessions",
  description:
    "Covers the calls that you make under the session's id until its next context; your first context of a session also covers your earlier calls. A pull request that names the calls' session then costs the calls of its own branch. Calls of others in the session are not covered.",
  body: jsonOf(SessionContextBody),
  answers: {
    200: ["Kept.", Answer],
    400: "The body is not valid; the message names the faulty field.",
    ...NO_CLIENT_KEY,
    ...NO_DATABASE,
  },
});

/** `/v1/sessions/contexts`: which branch each stretch of a session worked on. */
export const sessionContextsSurface = (deps: SessionLinksDeps) =>
  keyed(deps, "session-contexts").post(
    "/v1/sessions/contexts",
    async ({ request, caller }) => {
      const context = await readJson(deps, request, SessionContextBody);
      const { client } = readLabels(caller.headers, null);
      const declarer = { key: caller.key, client, at: deps.clock.now() };
      return { ...context, since: await declareContext(deps.database, context, declarer) };
    },
    { clientKey: true, parse: "none", detail: DETAIL },
  );
