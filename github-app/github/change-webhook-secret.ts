import { randomBytes } from "node:crypto";
import type { Clock } from "#shared/clock.ts";
import type { CredentialStore, Secrets } from "./credentials.ts";

export type SecretChange = {
  edit: NonNullable<CredentialStore["edit"]>;
  /** Has GitHub sign with it from now on. Rejects where GitHub refuses, or it is not known whether it does. */
  tellGithub(secret: string): Promise<void>;
  /** Time after which every process of the App has read what one of them stored. */
  spreadMs: number;
  clock: Clock;
};

/** For deliveries that were signed before GitHub was told, and are delivered late or again. */
const FORMER_VALID_MS = 3_600_000;

/**
 * Gives the App's webhook another secret, without a delivery being refused: every process accepts the new one before
 * GitHub signs with it, and the former one for an hour after. Where it fails on the way, both stay accepted, and doing
 * it again goes on with the same secret.
 */
export async function changeWebhookSecret({
  edit,
  tellGithub,
  spreadMs,
  clock,
}: SecretChange): Promise<void> {
  const secret = randomBytes(32).toString("hex");
  const { nextWebhookSecret: next = secret } = await edit((secrets) => ({
    nextWebhookSecret: secret,
    ...secrets,
  }));
  await Bun.sleep(spreadMs);
  await tellGithub(next);
  const until = new Date(clock.now().getTime() + FORMER_VALID_MS).toISOString();
  await edit((secrets) => (secrets.nextWebhookSecret === next ? confirmed(secrets, next, until) : secrets));
}

const confirmed = (
  { nextWebhookSecret: _, webhookSecret: former, ...secrets }: Secrets,
  webhookSecret: string,
  until: string,
): Secrets => ({ ...secrets, webhookSecret, formerWebhookSecret: { secret: former, until } });
