import { Elysia } from "elysia";
import { within } from "#drizzle/database.ts";
import { errorFields } from "#shared/log.ts";
import { createInbox, type InboxDeps } from "./inbox.ts";
import { setupPage } from "./setup-page.ts";

export type AppDeps = InboxDeps & {
  webhookPath: string;
  appId: number | null;
  /** Rejects when the database does not answer. */
  ping: () => Promise<unknown>;
};

/** Above the inbox's own limit, which answers with a reason. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;
const PING_MS_MAX = 2_000;

/** All that the GitHub App answers on its port. */
export function app(deps: AppDeps) {
  const inbox = createInbox(deps);
  return (
    new Elysia({
      normalize: false,
      serve: { reusePort: false, idleTimeout: 30, maxRequestBodySize: BODY_BYTES_MAX, development: false },
    })
      // First, because a hook that is registered after a route does not apply to it.
      .onError(({ error, code }) => {
        if (code === "NOT_FOUND") return failure(404, "not_found", "There is nothing at this address.");
        deps.log.error(errorFields(error), "request failed");
        return failure(500, "internal", "The GitHub App failed.");
      })
      .get("/", () =>
        setupPage({
          webhookPath: deps.webhookPath,
          appId: deps.appId,
          receivesWebhooks: deps.secrets.length > 0,
        }),
      )
      .get("/healthz", () => Response.json({ status: "ok" }))
      .get("/readyz", () => readiness(deps))
      // The signature is over the raw bytes, so nothing may read the body before the inbox does.
      .post(deps.webhookPath, ({ request }) => inbox(request), { parse: "none" })
  );
}

async function readiness({ ping }: AppDeps): Promise<Response> {
  try {
    await within(PING_MS_MAX, ping());
    return Response.json({ status: "ready" });
  } catch {
    return Response.json({ status: "not ready", reason: "database" }, { status: 503 });
  }
}

const failure = (status: number, type: string, message: string) =>
  Response.json({ error: { type, message } }, { status });
