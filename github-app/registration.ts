import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/rest";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { errorFields, type Log } from "#shared/log.ts";

/** What the App reads, and what it must be told about; installations are told to every App (DECISIONS.md, GitHub). */
const NEEDED = {
  permissions: { metadata: "read", pull_requests: "read" },
  events: ["pull_request", "pull_request_review", "repository"],
} as const;

/** How GitHub knows the App, and what it lacks there. */
export type Registration = { slug: string; missingPermissions: string[]; missingEvents: string[] };

type Identity = Pick<GithubAppConfig, "apiUrl"> & { app: NonNullable<GithubAppConfig["app"]> };

/** Asks GitHub, as the App. @throws Octokit's RequestError, whose `status` is 401 for a key that is not the App's. */
export async function readRegistration({ app, apiUrl }: Identity): Promise<Registration> {
  const octokit = new Octokit({
    authStrategy: createAppAuth,
    auth: { appId: app.id, privateKey: app.privateKey },
    baseUrl: apiUrl,
  });
  const { data } = await octokit.rest.apps.getAuthenticated();
  const granted: Record<string, string | undefined> = data?.permissions ?? {};
  const told = new Set(data?.events ?? []);
  return {
    slug: data?.slug ?? "",
    // `write` and `admin` include reading.
    missingPermissions: Object.keys(NEEDED.permissions).filter((name) => granted[name] === undefined),
    missingEvents: NEEDED.events.filter((name) => !told.has(name)),
  };
}

/** Says in the log what GitHub lacks of the App's registration, so that a merge is not missed in silence. */
export async function reportRegistration(identity: Identity, log: Log): Promise<void> {
  try {
    const { slug, missingPermissions, missingEvents } = await readRegistration(identity);
    const lacking = [...missingPermissions, ...missingEvents];
    if (lacking.length === 0) return log.info({ app: slug }, "GitHub knows the App");
    log.warn(
      { app: slug, permissions: missingPermissions.join(" "), events: missingEvents.join(" ") },
      "the App's registration at GitHub lacks permissions or events",
    );
  } catch (error) {
    const status = error instanceof Error && "status" in error ? Number(error.status) : null;
    log.warn(
      { ...errorFields(error), status },
      "GitHub does not confirm the App: check APP_ID and PRIVATE_KEY",
    );
  }
}
