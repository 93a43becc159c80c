import { type Static, Type } from "@sinclair/typebox";
import type { Database } from "#drizzle/database.ts";
import { githubApps } from "#drizzle/schema/github-app.ts";
import type { Ambient } from "#shared/clock.ts";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { closed, fits } from "#shared/schema.ts";
import { createSecretBox, type SecretBox, sealedFor } from "#shared/secret-box.ts";
import { noteOnPage, type SetupOrigin } from "../stores/audit-store.ts";
import type { AppIdentity } from "./octokit.ts";

/** The App's identity on GitHub, and the secrets that verify webhooks. */
type Credentials = {
  /** Null: the App does not call GitHub. */
  identity: AppIdentity | null;
  /** The present one first; empty: no webhook is accepted. */
  webhookSecrets: readonly string[];
  /** The registration made on the set-up page; null: the settings come from the environment, or are missing. */
  registered: Registered | null;
};

type Registered = {
  slug: string;
  htmlUrl: string;
  ownerLogin: string | null;
  /** Whether a new webhook secret is accepted that GitHub has not confirmed. */
  secretPending: boolean;
  /** Until when the former webhook secret is accepted; null: it is not. */
  formerSecretUntil: string | null;
};

const Sealed = closed({
  privateKey: Type.String(),
  webhookSecret: Type.String(),
  clientSecret: Type.String(),
  /** Absent: registered by an earlier version. */
  clientId: Type.Optional(Type.String()),
  /** Accepted, but not yet confirmed by GitHub. */
  nextWebhookSecret: Type.Optional(Type.String()),
  formerWebhookSecret: Type.Optional(closed({ secret: Type.String(), until: Type.String() })),
});
export type Secrets = Static<typeof Sealed>;

/** An App as GitHub returns it, once. */
export type NewRegistration = {
  appId: number;
  slug: string;
  ownerLogin: string | null;
  htmlUrl: string;
  apiUrl: string;
  secrets: Secrets;
};

export type CredentialStore = {
  /** As of the last `refresh`. */
  current(): Credentials;
  /** The secrets that verify webhooks; null: unknown, because the database was never reached. */
  webhookSecrets(): readonly string[] | null;
  /** Reads a registration that this or another process stored. Settings of the environment take precedence. */
  refresh(): Promise<void>;
  /** Stores a registration, encrypted, with an entry in the audit log; null: there is no key to encrypt it with. */
  register: ((registration: NewRegistration, by: SetupOrigin) => Promise<void>) | null;
  /**
   * Changes the secrets of the registration, one change at a time. @returns the changed ones. Null where `register` is.
   * @throws Error if there is none, or it cannot be decrypted.
   */
  edit: ((change: (secrets: Secrets) => Secrets) => Promise<Secrets>) | null;
};

type Deps = Ambient & {
  database: Database;
  config: Pick<GithubAppConfig, "app" | "apiUrl" | "webhookSecrets" | "sealKey">;
};

type Opened = {
  identity: AppIdentity;
  secrets: Secrets;
  names: Pick<Registered, "slug" | "htmlUrl" | "ownerLogin">;
};

export function createCredentials({ database, config, clock, log }: Deps): CredentialStore {
  const fixed = config.webhookSecrets.length > 0;
  const box = config.sealKey && createSecretBox(config.sealKey);
  const configured: Credentials = {
    identity: config.app && { apiUrl: config.apiUrl, app: config.app },
    webhookSecrets: config.webhookSecrets,
    registered: null,
  };
  let opened: Opened | null = null;
  const current = () => (opened === null ? configured : credentialsOf(opened, clock.now()));
  let sealed = "";
  let isKnown = fixed || !box;
  const refresh = async () => {
    if (fixed || !box) return;
    const [row] = await database.db.select().from(githubApps);
    isKnown = true;
    if (!row || row.sealed === sealed) return;
    sealed = row.sealed;
    const now = open(box, row);
    if (now) opened = now;
    else
      log.error(
        { appId: row.appId },
        "the App's credentials cannot be decrypted: MASTER_KEY is not that of the set-up",
      );
  };
  return {
    current,
    webhookSecrets: () => (isKnown ? current().webhookSecrets : null),
    refresh,
    register:
      fixed || !box
        ? null
        : async (it, by) => {
            await keep({ database, box }, it, by);
            await refresh();
          },
    edit:
      fixed || !box
        ? null
        : async (change) => {
            const changed = await edit({ database, box }, change);
            await refresh();
            return changed;
          },
  };
}

function credentialsOf({ identity, secrets, names }: Opened, now: Date): Credentials {
  const { webhookSecret, nextWebhookSecret: next, formerWebhookSecret: former } = secrets;
  const isFormerTaken = former !== undefined && Date.parse(former.until) > now.getTime();
  return {
    identity,
    webhookSecrets: [webhookSecret, ...(next ? [next] : []), ...(isFormerTaken ? [former.secret] : [])],
    registered: {
      ...names,
      secretPending: next !== undefined,
      formerSecretUntil: isFormerTaken ? former.until : null,
    },
  };
}

function open(box: SecretBox, row: typeof githubApps.$inferSelect): Opened | null {
  const text = box.open(row.sealed, sealedFor(row.appId));
  const secrets: unknown = text === null ? null : JSON.parse(text);
  if (!fits(Sealed, secrets)) return null;
  return {
    identity: { apiUrl: row.apiUrl, app: { id: row.appId, privateKey: secrets.privateKey } },
    secrets,
    names: { slug: row.slug, htmlUrl: row.htmlUrl, ownerLogin: row.ownerLogin },
  };
}

async function keep(
  { database: { db }, box }: { database: Database; box: SecretBox },
  it: NewRegistration,
  by: SetupOrigin,
): Promise<void> {
  const row = {
    orgId: DEFAULT_ORG,
    appId: it.appId,
    slug: it.slug,
    ownerLogin: it.ownerLogin,
    htmlUrl: it.htmlUrl,
    apiUrl: it.apiUrl,
    sealed: box.seal(JSON.stringify(it.secrets), sealedFor(it.appId)),
    createdAt: by.now.toISOString(),
  };
  await db.transaction(async (tx) => {
    const [former] = await tx.select().from(githubApps).for("update");
    await tx.insert(githubApps).values(row).onConflictDoUpdate({ target: githubApps.orgId, set: row });
    const states = { after: stateOf(row), ...(former && { before: stateOf(former) }) };
    await noteOnPage(tx, by, { action: "github_app.registered", subject: it.slug, ...states });
  });
}

/** As the audit log has it. */
const stateOf = ({ appId, slug, ownerLogin, htmlUrl }: Omit<typeof githubApps.$inferSelect, "sealed">) => ({
  app_id: appId,
  slug,
  owner: ownerLogin,
  html_url: htmlUrl,
});

const edit = (
  { database: { db }, box }: { database: Database; box: SecretBox },
  change: (secrets: Secrets) => Secrets,
): Promise<Secrets> =>
  db.transaction(async (tx) => {
    const [row] = await tx.select().from(githubApps).for("update");
    const opened = row && open(box, row);
    if (!opened) throw new Error("there is no App that this master key can decrypt");
    const changed = change(opened.secrets);
    const sealed = box.seal(JSON.stringify(changed), sealedFor(row.appId));
    await tx.update(githubApps).set({ sealed });
    return changed;
  });
