import { Elysia } from "elysia";
import type { Registry } from "prom-client";
import { within } from "#drizzle/database.ts";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { errorFields } from "#shared/log.ts";
import { pathsAsSent } from "#shared/paths-as-sent.ts";
import { PRIVATE_ANSWER } from "#shared/private-answers.ts";
import { callerAddress } from "#shared/proxies.ts";
import { type RefusedCredentials, refusedCredentials } from "#shared/refused-credentials.ts";
import { createInbox, type InboxDeps } from "./inbox/inbox.ts";
import { isAdministrator, unauthorized } from "./setup/administrator.ts";
import { consoleUrl, setupEntry } from "./setup/entry.ts";
import { publicPage } from "./setup/pages.ts";
import { type SetupDeps, setupRoutes } from "./setup/routes.ts";

export type ServerDeps = InboxDeps &
  Omit<SetupDeps, "guesses"> & {
    config: Pick<GithubAppConfig, "metricsPublic" | "trustedProxies">;
    registry: Registry;
    /** Whether a bearer is an admin token that reads metrics. */
    readsMetrics?(bearer: string): Promise<boolean>;
    /** Rejects when the database does not answer. */
    ping: () => Promise<unknown>;
  };

/** Above the inbox's own limit, which answers with a reason. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;
const PING_MS_MAX = 2_000;

const guessesOf = ({ clock, log }: Pick<SetupDeps, "clock" | "log">) =>
  refusedCredentials({
    clock,
    perMinuteMax: 10,
    report: (address, refusals) => log.warn({ address, refusals }, "credentials refused"),
  });

/** All addresses of the GitHub App. */
export function createServer(deps: ServerDeps) {
  const inbox = createInbox(deps);
  const entry = { ...deps, guesses: guessesOf(deps) };
  const app: Elysia = new Elysia({
    normalize: false,
    serve: {
      routes: pathsAsSent((request) => app.fetch(request), refusePath),
      reusePort: false,
      idleTimeout: 30,
      maxRequestBodySize: BODY_BYTES_MAX,
      development: false,
    },
  });
  return (
    app
      .onRequest(({ set }) => void Object.assign(set.headers, PRIVATE_ANSWER))
      // First: a hook that is registered after a route does not apply to it.
      .onError(({ error, code }) => {
        if (code === "NOT_FOUND") return failure(404, "not_found", "Nothing exists at this address.");
        deps.log.error(errorFields(error), "request failed");
        return failure(500, "internal", "The GitHub App failed.");
      })
      .get("/", ({ request }) => firstPage(deps, request))
      .get("/healthz", () => Response.json({ status: "ok" }))
      .get("/readyz", () => readiness(deps))
      .get("/metrics", ({ request, server }) =>
        metrics(entry, request, callerAddress(server, request, deps.config.trustedProxies) ?? ""),
      )
      .use(setupEntry(entry))
      .use(setupRoutes(entry))
      // The signature covers the raw bytes, so nothing may read the body before the inbox.
      .post(deps.config.webhookPath, ({ request }) => inbox(request), { parse: "none" })
  );
}

function firstPage({ config, credentials }: ServerDeps, request: Request): Response {
  const { identity, webhookSecrets } = credentials.current();
  return publicPage({
    app: identity?.app.id ?? null,
    receives: webhookSecrets.length > 0,
    webhookPath: config.webhookPath,
    consoleUrl: consoleUrl(config, request),
  });
}

async function metrics(
  { config, registry, guesses, readsMetrics }: ServerDeps & { guesses: RefusedCredentials },
  request: Request,
  address: string,
): Promise<Response> {
  if (!config.metricsPublic) {
    if (guesses.waitSeconds(address) > 0) return new Response(null, { status: 429 });
    const bearer = /^bearer (.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    const isAllowed =
      isAdministrator(request, config.adminKeyDigest) ||
      (bearer !== undefined && (await readsMetrics?.(bearer)) === true);
    if (!isAllowed) {
      if (request.headers.has("authorization")) guesses.note(address);
      return unauthorized();
    }
  }
  return new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } });
}

async function readiness({ ping }: ServerDeps): Promise<Response> {
  try {
    await within(PING_MS_MAX, ping());
    return Response.json({ status: "ready" });
  } catch {
    return Response.json({ status: "not ready", reason: "database" }, { status: 503 });
  }
}

/** A proxy in front may have read another path than we do. */
const refusePath = () => failure(400, "invalid_request", "The path of the address is ambiguous.");

const failure = (status: number, type: string, message: string) =>
  Response.json({ error: { type, message } }, { status, headers: PRIVATE_ANSWER });
