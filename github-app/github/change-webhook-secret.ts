import { randomBytes } from "node:crypto";
import type { Clock } from "#shared/clock.ts";
import type { CredentialStore, Secrets } from "./credentials.ts";

export type SecretChange = {
  edit: NonNullable<CredentialStore["edit"]>;
  /** Makes GitHub sign with it from now on. Rejects when GitHub refuses, or the outcome is unknown. */
  updateGithub(secret: string): Promise<void>;
  /** After this time every process of the App has read what one of them stored. */
  spreadMs: number;
  clock: Clock;
};

/** For deliveries that were signed before the change and arrive late or again. */
const FORMER_VALID_MS = 3_600_000;

/**
 * Changes the App's webhook secret without refusing a delivery: every process accepts the new one before GitHub signs
 * with it, and the former one for an hour after. If a step fails, both stay accepted, and a second try continues with
 * the same secret.
 */
export async function changeWebhookSecret({ edit, updateGithub, spreadMs, clock }: SecretChange) {
  const secret = randomBytes(32).toString("hex");
  const { nextWebhookSecret: next = secret } = await edit((secrets) => ({
    nextWebhookSecret: secret,
    ...secrets,
  }));
  await Bun.sleep(spreadMs);
  await updateGithub(next);
  const until = new Date(clock.now().getTime() + FORMER_VALID_MS).toISOString();
  await edit((secrets) => (secrets.nextWebhookSecret === next ? confirmed(secrets, next, until) : secrets));
}

const confirmed = (
  { nextWebhookSecret: _, webhookSecret: former, ...secrets }: Secrets,
  webhookSecret: string,
  until: string,
): Secrets => ({ ...secrets, webhookSecret, formerWebhookSecret: { secret: former, until } });
