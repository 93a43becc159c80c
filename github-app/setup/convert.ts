import { type Static, Type } from "@sinclair/typebox";
import { fits, nullable, open } from "#shared/schema.ts";
import type { NewRegistration } from "../github/credentials.ts";

/** GitHub's answer to a code, which it gives once. */
const Conversion = open({
  id: Type.Integer({ minimum: 1 }),
  slug: Type.String({ minLength: 1 }),
  html_url: Type.String(),
  client_id: Type.String(),
  client_secret: Type.String(),
  webhook_secret: nullable(Type.String()),
  pem: Type.String({ minLength: 1 }),
  owner: Type.Optional(nullable(open({ login: Type.Optional(Type.String()) }))),
});

const ANSWER_MS_MAX = 20_000;
const CODE = /^[A-Za-z0-9._-]{1,200}$/;

/** The App that GitHub registered; null: the code is unknown, was used before or is over an hour old. */
export async function convert(apiUrl: string, code: string): Promise<NewRegistration | null> {
  if (!CODE.test(code)) return null;
  const answer = await fetch(`${apiUrl}/app-manifests/${code}/conversions`, {
    method: "POST",
    headers: { accept: "application/vnd.github+json", "user-agent": "tallygate" },
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    redirect: "error",
  });
  if (answer.status === 404 || answer.status === 422) return null;
  const body: unknown = await answer.json();
  if (!answer.ok || !fits(Conversion, body) || body.webhook_secret === null) {
    throw new Error("GitHub returned no App");
  }
  return registrationOf(apiUrl, body, body.webhook_secret);
}

const registrationOf = (apiUrl: string, it: Static<typeof Conversion>, webhookSecret: string) => ({
  appId: it.id,
  slug: it.slug,
  ownerLogin: it.owner?.login ?? null,
  htmlUrl: it.html_url,
  apiUrl,
  secrets: { privateKey: it.pem, webhookSecret, clientSecret: it.client_secret, clientId: it.client_id },
});
