import { Elysia } from "elysia";
import type { Directory } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { GenericBody } from "../hooks/generic.ts";
import { type HookDeps, hookReceiver } from "../hooks/receive.ts";
import { type BodyBudget, holding } from "../http/body-budget.ts";
import { readBody } from "../plugins/body.ts";
import { authenticate, type CallerCheck } from "../plugins/client-key.ts";
import { requireHooksScope } from "../routing/scope.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";
import { documented, jsonOf, NO_CLIENT_KEY } from "./documented.ts";

export type HookEventsDeps = Omit<HookDeps, "directory"> &
  RequestBodyDeps & {
    callers: CallerCheck;
    bodyBudget: BodyBudget;
    directory: { current(): Pick<Directory, "settings" | "hookPolicies" | "toolServers"> };
    bytesMax: { tool: number };
  };

const SCHEMA = {
  oneOf: [
    {
      type: "object",
      required: ["hook_event_name"],
      properties: { hook_event_name: { type: "string" } },
      description: "A coding agent's own hook payload, as Claude Code sends it.",
    },
    GenericBody,
  ],
};

const DETAIL = documented("Receive hook events of coding agents", {
  tag: "Hooks",
  description:
    "Answers `{}` (no opinion), or that a hook policy denies the call; never that it is allowed. Only names, ids, times and the outcome are kept: no prompts, arguments or results. The generic form takes up to 100 events; the same id is always the same call.",
  body: jsonOf(SCHEMA),
  answers: {
    200: "Received and on disk: `{}`, or a denial in the agent's own format.",
    400: "The body is not a hook's JSON; the message names the faulty field.",
    ...NO_CLIENT_KEY,
    403: "The key's scopes allow neither models nor tools.",
    404: "Hooks are switched off.",
    413: "The body is too large.",
    503: "Nothing can be recorded at the moment.",
  },
});

/** `POST /hooks/v1/events`: decisions and ends of tool calls, reported by hooks that an administrator manages. */
export const hookEvents = (deps: HookEventsDeps) => {
  const receive = hookReceiver(deps);
  return new Elysia({ name: "surface.hook-events" })
    .post(
      "/hooks/v1/events",
      async ({ request }) => {
        requireOn(deps);
        const { key } = await authenticate(deps.callers, request);
        requireHooksScope(key);
        requirePlain(request.headers);
        return holding(deps.bodyBudget, async (hold) => {
          const bytes = await readBody(deps, request, { bytesMax: deps.bytesMax.tool, hold });
          return Response.json(await receive(key, request.headers, bytes));
        });
      },
      { parse: "none", detail: DETAIL },
    )
    .all(
      "/hooks/v1/events",
      () => {
        requireOn(deps);
        throw Object.assign(new GatewayError("method_not_allowed"), { headers: { allow: "POST" } });
      },
      { parse: "none", detail: { hide: true } },
    );
};

function requireOn({ directory }: HookEventsDeps): void {
  if (directory.current().settings.hooks) return;
  throw new GatewayError("not_found", "The hooks' endpoint is switched off.");
}

/** A compressed body could have any size once decompressed. */
function requirePlain(headers: Headers): void {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return;
  throw new GatewayError("unsupported_media_type", "Send the JSON without a content-encoding.");
}
