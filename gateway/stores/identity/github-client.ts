import { Type } from "@sinclair/typebox";
import type { Database } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { installations } from "#drizzle/schema/github.ts";
import { githubApps } from "#drizzle/schema/github-app.ts";
import { fits, open } from "#shared/schema.ts";
import { createSecretBox, sealedFor } from "#shared/secret-box.ts";
import { Secret } from "../../directory.ts";
import { withStoreErrors } from "../store-errors.ts";

/** The client that signs people in with GitHub. */
export type GithubClient = { id: string; secret: Secret };

/** Apps that were registered by an earlier version have no `clientId`. */
const Sealed = open({ clientId: Type.String(), clientSecret: Type.String() });

/** The registered App's client; null: none that `key` opens, or no account lets the App read its members. */
export async function registeredGithubClient(
  database: Database,
  key: Uint8Array,
): Promise<GithubClient | null> {
  const { db } = database;
  const accounts = await activeInstallations(database);
  if (!accounts.some(({ permissions }) => permissions?.["members"] !== undefined)) return null;
  const [row] = await withStoreErrors(() => db.select().from(githubApps).where(ours(githubApps)));
  const text = row ? createSecretBox(key).open(row.sealed, sealedFor(row.appId)) : null;
  const sealed: unknown = text === null ? null : JSON.parse(text);
  return fits(Sealed, sealed) ? { id: sealed.clientId, secret: new Secret(sealed.clientSecret) } : null;
}

export const installedAccounts = async (database: Database): Promise<ReadonlySet<number>> =>
  new Set((await activeInstallations(database)).map(({ accountId }) => accountId));

const activeInstallations = ({ db }: Database) =>
  withStoreErrors(() =>
    db
      .select({ accountId: installations.accountId, permissions: installations.permissions })
      .from(installations)
      .where(ours(installations, { state: "active" })),
  );
