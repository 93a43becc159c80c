import { type ApplicationFunction, Probot } from "probot";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { keysOf } from "#shared/keys-of.ts";
import type { Log } from "#shared/log.ts";
import { FACTS, isEventName } from "../facts/facts.ts";
import type { DueDelivery } from "../stores/inbox-store.ts";
import { type ApplyDeps, createApplier, UnreadableFacts } from "./apply.ts";
import { probotLog } from "./probot-log.ts";

// `FACTS` has these keys and no others.
const EVENTS = keysOf(FACTS);

/** The App as Probot loads it. Its events carry facts instead of payloads, because nothing else of them was kept. */
export const outcomes =
  (deps: ApplyDeps): ApplicationFunction =>
  (probot) => {
    const apply = createApplier(deps);
    probot.on(EVENTS, ({ id, name, payload }) => apply({ id, name, facts: payload }));
  };

/** A Probot of explicit settings (by default it reads the environment). Without an App id it makes no request. */
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

/** A status that Octokit does not retry. */
const refuse = () => Promise.resolve(Response.json({ message: "The App is receive-only." }, { status: 403 }));

/** Passes a delivery to its handlers. @throws AggregateError of theirs; UnreadableFacts without a handler. */
export const receiveBy =
  (probot: Probot) =>
  async ({ deliveryId, event, facts }: DueDelivery): Promise<void> => {
    if (!isEventName(event)) throw new UnreadableFacts();
    const received: unknown = { id: deliveryId, name: event, payload: facts };
    // The handlers of `outcomes` expect facts where Probot's type has a payload.
    await probot.receive(received as Parameters<Probot["receive"]>[0]);
  };
