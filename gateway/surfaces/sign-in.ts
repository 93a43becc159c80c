import { Elysia } from "elysia";
import { RedeemBody, SignedIn } from "#shared/admin/sign-in-links.ts";
import { WaysIn } from "#shared/admin/ways-in.ts";
import { formIn } from "#shared/form-body.ts";
import { fits } from "#shared/schema.ts";
import { GatewayError, refuse } from "../errors.ts";
import { ofSameClient, requestIdOf } from "../http/listener.ts";
import { answerReceived } from "../identity/elsewhere/saml-return.ts";
import { comeBackFrom, type ElsewhereDeps, leaveFor } from "../identity/elsewhere/sign-in-elsewhere.ts";
import { type WaysConfig, waysInView } from "../identity/elsewhere/ways.ts";
import { isFromOwnPage } from "../identity/own-origin.ts";
import { signInByLink } from "../identity/sign-in.ts";
import { readBody, readJson } from "../plugins/body.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";
import { documented, jsonOf, NO_DATABASE } from "./documented.ts";

/** Addresses of the sign-in library below `/auth` that are open; every other one is a 404. */
const AUTH_PATHS: readonly string[] = ["/sign-out"];

export type SignInSurfaceDeps = ElsewhereDeps &
  RequestBodyDeps & { publicUrl: string | null; waysIn: WaysConfig };

const BODY_BYTES_MAX = 64 * 1024;
const FORM = "application/x-www-form-urlencoded";

const REDEEM = documented("Sign in with a one-time link's token", {
  tag: "Own",
  description:
    "Sets the session cookie. Browsers must send it from a page of this gateway. A form is answered with 303 to `/`.",
  by: ["signInLink"],
  body: jsonOf(RedeemBody),
  answers: {
    200: ["Signed in.", SignedIn],
    303: "Signed in by a form.",
    400: "A field is unknown, missing or wrong; the message names it.",
    401: "The link was used before, is over 15 minutes old, or is not of this gateway.",
    403: "A browser sent it from another site's page.",
    429: "Too many wrong credentials came from this address.",
    ...NO_DATABASE,
  },
});

const WAYS_IN = documented("Read which ways to sign in are set up", {
  tag: "Own",
  description: "Needs no credential. The sign-in page shows a button for each.",
  by: [],
  answers: { 200: ["The ways in.", WaysIn] },
});

const leaving = (at: string) =>
  documented(`Sign in at ${at}`, {
    tag: "Own",
    description:
      "For a browser: it leaves for the identity provider, comes back to `/auth/callback/…` and ends at `next`, signed in. A sign-in that fails ends at `/sign-in?error=…`.",
    by: [],
    parameters: [
      {
        name: "next",
        in: "query",
        schema: { type: "string", default: "/" },
        description: "A path of this gateway; another address counts as `/`.",
      },
    ],
    answers: { 303: "To the identity provider, or back to the sign-in page." },
  });

/**
 * Sign-in by a one-time link, and the sign-in library's own addresses below `/auth`. Opening a link signs no one in:
 * mail scanners and previews open links, too. Only sending its form does.
 */
export const signIn = (deps: SignInSurfaceDeps) =>
  new Elysia({ name: "surface.sign-in" })
    .post("/auth/sign-in/link", ({ request }) => redeem(deps, request), { parse: "none", detail: REDEEM })
    .get("/auth/ways-in", () => waysInView(deps.waysIn, deps.ways), { detail: WAYS_IN })
    .post("/auth/callback/saml", ({ request }) => receiveAnswer(deps, request), HIDDEN)
    .use(elsewhere(deps))
    .all("/auth/*", ({ request }) => byLibrary(deps, request), HIDDEN);

const HIDDEN = { parse: "none", detail: { hide: true } } as const;

/** Where a browser leaves for an identity provider, and comes back from it. */
function elsewhere(deps: SignInSurfaceDeps) {
  const app = new Elysia({ name: "surface.sign-in-elsewhere" });
  for (const [way, at] of WAYS) {
    app
      .get(`/auth/sign-in/${way}`, ({ request }) => leaveFor(deps, way, request), { detail: leaving(at) })
      .get(`/auth/callback/${way}`, ({ request }) => comeBackFrom(deps, way, request), HIDDEN);
  }
  return app;
}

const WAYS = [
  ["oidc", "the OpenID Connect issuer"],
  ["github", "GitHub"],
  ["saml", "the SAML identity provider"],
] as const;

async function redeem(deps: SignInSurfaceDeps, request: Request): Promise<Response> {
  // Clients that are no browser send no Origin, and have no cookie that another site could use.
  if (request.headers.has("origin")) requireOwnPage(deps, request);
  const isForm = request.headers.get("content-type")?.startsWith(FORM) === true;
  const body = isForm ? await readForm(deps, request) : await readJson(deps, request, RedeemBody);
  const { person, headers } = await signInByLink(deps, request, body);
  headers.set("cache-control", "no-store");
  headers.set("x-request-id", requestIdOf(request));
  headers.delete("content-length");
  if (isForm) {
    headers.set("location", "/");
    return new Response(null, { status: 303, headers });
  }
  return Response.json({ email: person.email, role: person.role }, { headers });
}

/** A signed answer may list many groups. */
const ANSWER_BYTES_MAX = 512 * 1024;

/** What a browser posts for the identity provider. It comes from another site, so it has no cookie and changes nothing here. */
async function receiveAnswer(deps: SignInSurfaceDeps, request: Request): Promise<Response> {
  const bytes = await readBody(deps, request, { bytesMax: ANSWER_BYTES_MAX });
  return await answerReceived(deps, new URLSearchParams(new TextDecoder().decode(bytes)));
}

async function readForm(deps: RequestBodyDeps, request: Request): Promise<RedeemBody> {
  const bytes = await readBody(deps, request, { bytesMax: BODY_BYTES_MAX });
  const given = Object.fromEntries([...(formIn(bytes) ?? [])].filter(([, value]) => value !== ""));
  if (fits(RedeemBody, given)) return given;
  refuse("The form does not have the fields of the sign-in page.");
}

/** @throws GatewayError not_found; foreign_origin; too_large. */
async function byLibrary(deps: SignInSurfaceDeps, request: Request): Promise<Response> {
  const { url, method, headers } = request;
  const path = new URL(url).pathname.replace(/^\/auth/, "");
  if (!AUTH_PATHS.includes(path)) throw new GatewayError("not_found");
  if (method === "GET") return await deps.auth.handler(request);
  requireOwnPage(deps, request);
  const body = Buffer.from(await readBody(deps, request, { bytesMax: BODY_BYTES_MAX }));
  // The library asks for the type of a body, even of an empty one.
  const sent = body.byteLength > 0 ? body : null;
  return await deps.auth.handler(ofSameClient(request, new Request(url, { method, headers, body: sent })));
}

function requireOwnPage({ publicUrl }: Pick<SignInSurfaceDeps, "publicUrl">, request: Request): void {
  if (!isFromOwnPage(request.headers, publicUrl)) throw new GatewayError("foreign_origin");
}
