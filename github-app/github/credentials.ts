import { type Static, Type } from "@sinclair/typebox";
import type { Database } from "#drizzle/database.ts";
import { githubApps } from "#drizzle/schema/github-app.ts";
import { type Box, createBox } from "#shared/box.ts";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Log } from "#shared/log.ts";
import { closed, fits } from "#shared/schema.ts";
import type { AppIdentity } from "./octokit.ts";

/** What the App is at GitHub, and what webhooks are verified with. */
export type Credentials = {
  /** Null: nothing is asked of GitHub. */
  identity: AppIdentity | null;
  /** The present one first; none: no webhook is taken. */
  webhookSecrets: readonly string[];
  /** The registration that the set-up page made; null when the environment says it, or nobody does. */
  registered: { slug: string; htmlUrl: string; ownerLogin: string | null } | null;
};

const Sealed = closed({
  privateKey: Type.String(),
  webhookSecret: Type.String(),
  clientSecret: Type.String(),
});

/** An App as GitHub hands it over, once. */
export type NewRegistration = {
  appId: number;
  slug: string;
  ownerLogin: string | null;
  htmlUrl: string;
  apiUrl: string;
  secrets: Static<typeof Sealed>;
};

const belonging = (appId: number) => `${DEFAULT_ORG}|${appId}|github_app`;

export type CredentialStore = {
  /** As of the last `refresh`. */
  current(): Credentials;
  /** What webhooks are verified with; null: the database, which may know it, was never reached. */
  webhookSecrets(): readonly string[] | null;
  /** Reads a registration that this or another process has made. Settings of the environment come first. */
  refresh(): Promise<void>;
  /** Keeps a registration, sealed; null: there is no key to seal it under. */
  register: ((registration: NewRegistration, now: Date) => Promise<void>) | null;
};

type Deps = {
  database: Database;
  config: Pick<GithubAppConfig, "app" | "apiUrl" | "webhookSecrets" | "sealKey">;
  log: Log;
};

export function createCredentials({ database, config, log }: Deps): CredentialStore {
  const fixed = config.webhookSecrets.length > 0;
  const box = config.sealKey && createBox(config.sealKey);
  let current: Credentials = {
    identity: config.app && { apiUrl: config.apiUrl, app: config.app },
    webhookSecrets: config.webhookSecrets,
    registered: null,
  };
  let sealed = "";
  let isKnown = fixed || !box;
  const refresh = async () => {
    if (fixed || !box) return;
    const [row] = await database.db.select().from(githubApps);
    isKnown = true;
    if (!row || row.sealed === sealed) return;
    sealed = row.sealed;
    const opened = open(box, row);
    if (opened) current = opened;
    else
      log.error(
        { appId: row.appId },
        "the App's credentials do not open: MASTER_KEY is not that of the set-up",
      );
  };
  return {
    current: () => current,
    webhookSecrets: () => (isKnown ? current.webhookSecrets : null),
    refresh,
    register:
      fixed || !box
        ? null
        : async (it, now) => {
            await keep(database, box, it, now);
            await refresh();
          },
  };
}

function open(box: Box, row: typeof githubApps.$inferSelect): Credentials | null {
  const text = box.open(row.sealed, belonging(row.appId));
  const secrets: unknown = text === null ? null : JSON.parse(text);
  if (!fits(Sealed, secrets)) return null;
  return {
    identity: { apiUrl: row.apiUrl, app: { id: row.appId, privateKey: secrets.privateKey } },
    webhookSecrets: [secrets.webhookSecret],
    registered: { slug: row.slug, htmlUrl: row.htmlUrl, ownerLogin: row.ownerLogin },
  };
}

async function keep({ db }: Database, box: Box, it: NewRegistration, now: Date): Promise<void> {
  const row = {
    orgId: DEFAULT_ORG,
    appId: it.appId,
    slug: it.slug,
    ownerLogin: it.ownerLogin,
    htmlUrl: it.htmlUrl,
    apiUrl: it.apiUrl,
    sealed: box.seal(JSON.stringify(it.secrets), belonging(it.appId)),
    createdAt: now.toISOString(),
  };
  await db.insert(githubApps).values(row).onConflictDoUpdate({ target: githubApps.orgId, set: row });
}
