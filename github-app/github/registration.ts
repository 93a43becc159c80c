import { missingPermissions } from "#shared/github-permissions.ts";
import type { Log } from "#shared/log.ts";
import { errorFields } from "#shared/log.ts";
import type { Settings } from "#shared/settings.ts";
import type { Github } from "./octokit.ts";
import { statusOf } from "./wait.ts";

/** The events that the App subscribes to. GitHub sends every App the events of its installations. */
export const NEEDED_EVENTS = ["pull_request", "pull_request_review", "repository"];

/** The App as registered on GitHub, and the missing parts of its registration. */
export type Registration = { slug: string; missingPermissions: string[]; missingEvents: string[] };

/** Asks GitHub, as the App. @throws Octokit's RequestError, whose `status` is 401 for a key that is not the App's. */
export async function readRegistration(app: Github, settings: Settings): Promise<Registration> {
  const { data } = await app.rest.apps.getAuthenticated();
  const granted: Record<string, string | undefined> = data?.permissions ?? {};
  const subscribed = new Set(data?.events ?? []);
  return {
    slug: data?.slug ?? "",
    missingPermissions: missingPermissions(granted, settings),
    missingEvents: NEEDED_EVENTS.filter((name) => !subscribed.has(name)),
  };
}

/** Logs missing parts of the App's registration, because GitHub would silently send or allow less. */
export async function reportRegistration(app: Github, settings: () => Promise<Settings>, log: Log) {
  try {
    const { slug, ...missing } = await readRegistration(app, await settings());
    const lacking = [...missing.missingPermissions, ...missing.missingEvents];
    if (lacking.length === 0) return log.info({ app: slug }, "GitHub confirmed the App");
    log.warn(
      {
        app: slug,
        permissions: missing.missingPermissions.join(", "),
        events: missing.missingEvents.join(", "),
      },
      "the App's registration on GitHub lacks permissions or events",
    );
  } catch (error) {
    const status = statusOf(error);
    log.warn(
      { ...errorFields(error), status },
      "GitHub does not confirm the App: check APP_ID and PRIVATE_KEY",
    );
  }
}
