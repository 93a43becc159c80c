import { type ApplicationFunction, Probot } from "probot";
import type { Log } from "#shared/log.ts";
import { type ApplyDeps, applyDelivery } from "./apply.ts";
import type { GithubAppConfig } from "./config.ts";
import { type EventName, FACTS } from "./facts.ts";
import type { DueDelivery } from "./inbox-store.ts";
import { probotLog } from "./probot-log.ts";

const EVENTS = Object.keys(FACTS) as EventName[];

/** The App as Probot loads it. Its events carry facts in place of payloads, because nothing else was kept of them. */
export const outcomes =
  (deps: ApplyDeps): ApplicationFunction =>
  (probot) => {
    probot.on(EVENTS, ({ id, name, payload }) => applyDelivery(deps, { id, name, facts: payload }));
  };

/**
 * A Probot with explicit settings only (by itself it reads the environment, and falls back to a secret known to all).
 * Without an App id it has no way to GitHub: every request that it would make is refused here.
 */
export async function startProbot(
  config: Pick<GithubAppConfig, "app" | "apiUrl" | "webhookSecrets">,
  log: Log,
  app: ApplicationFunction,
): Promise<Probot> {
  const identity = config.app
    ? { appId: config.app.id, privateKey: config.app.privateKey }
    : { githubToken: "receive-only", request: { fetch: refuse } };
  const probot = new Probot({
    ...identity,
    baseUrl: config.apiUrl,
    // Probot verifies nothing here (inbox.ts does); a random secret keeps its default out of reach.
    secret: config.webhookSecrets[0] ?? crypto.randomUUID(),
    log: probotLog(log),
  });
  await probot.ready();
  await probot.load(app);
  return probot;
}

const refuse = () => Promise.reject(new Error("the App is receive-only"));

/** Hands a delivery of the inbox to the App's handlers. @throws AggregateError of what they threw. */
export const receiveBy =
  (probot: Probot) =>
  ({ deliveryId, event, facts }: DueDelivery): Promise<void> =>
    probot.receive({ id: deliveryId, name: event, payload: facts } as unknown as Parameters<
      Probot["receive"]
    >[0]);
