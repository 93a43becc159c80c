import { type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import { connected, type Runner, type Transaction } from "#drizzle/database.ts";
import { masterKeyChecks } from "#drizzle/schema/master-key.ts";
import type { Ambient } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { githubAppKey } from "#shared/master-key.ts";
import { createSecretBox, keyIdOf } from "#shared/secret-box.ts";
import { auditIn, ownOrigin } from "./audit.ts";

/** Every column with sealed texts, as a query of one column: `sealed`. */
export const SEALED = {
  "providers.credential": sql`select credential as sealed from providers where credential is not null`,
  "providers.more_credentials": sql`select jsonb_array_elements_text(more_credentials) as sealed from providers`,
  "providers.headers": sql`select value as sealed from providers, jsonb_each_text(headers)
    where value ~ '^1\\.[0-9a-f]{8}\\.'`,
  "mcp_servers.credential": sql`select credential as sealed from mcp_servers where credential is not null`,
  "vendor_accounts.credential": sql`select credential as sealed from vendor_accounts where credential is not null`,
  "alerts.sealed": sql`select sealed from alerts`,
  "digest_webhooks.sealed": sql`select sealed from digest_webhooks`,
  "github_apps.sealed": sql`select sealed from github_apps`,
  "captured_bodies.sealed": sql`select substr(sealed, 1, 16) as sealed from captured_bodies`,
  "kept_answers.sealed": sql`select substr(sealed, 1, 16) as sealed from kept_answers`,
} as const satisfies Record<string, SQL>;

const EVERY_KEY_ID = sql`select distinct split_part(sealed, '.', 2) as id
  from (${sql.join(Object.values(SEALED), sql` union all `)}) every_sealed`;

const everyKeyId = async (tx: Runner): Promise<string[]> =>
  (await tx.execute<{ id: string }>(EVERY_KEY_ID)).map((row) => row.id);

const CHECK_TEXT = "this master key opens what the installation has sealed";
const BELONGING = `${DEFAULT_ORG}||master_key_check`;

/** The key of this process is not the one that sealed what the database holds. */
export class WrongMasterKey extends Error {
  constructor(used: string, id: string) {
    super(
      `MASTER_KEY (id ${id}) is not the key that this installation was sealed with (id ${used}). Start with that key. If ` +
        `it is lost, start with MASTER_KEY_REPLACES=${used} and enter the credentials again.`,
    );
  }
}

export type MasterKeyCheckOptions = Ambient & {
  databaseUrl: string;
  /** 32 bytes. */
  masterKey: Uint8Array;
  /** Id of a lost key that this one replaces. */
  masterKeyReplaces: string | null;
};

/**
 * Compares the master key with a known text that the first gateway sealed. An older installation gets that text once
 * this key opens everything that is sealed there, or nothing is. If it opens only a part, nothing decides which key is
 * right: the gateway starts, says so, and looks again at the next start.
 * @throws WrongMasterKey before anything is sealed or opened with it.
 */
export const requireMasterKey = (options: MasterKeyCheckOptions): Promise<void> =>
  connected(options.databaseUrl, { name: "master key", statementTimeoutMs: 0 }, (client) =>
    drizzle(client).transaction((tx) => compare(tx, options)),
  );

async function compare(
  tx: Transaction,
  { masterKey, log, ...options }: MasterKeyCheckOptions,
): Promise<void> {
  const box = createSecretBox(masterKey);
  const id = keyIdOf(masterKey);
  // Of several first starts at once with different keys, one makes the text and the others compare theirs with it.
  await tx.execute(sql`lock table master_key_checks in share row exclusive mode`);
  const [check] = await tx.select().from(masterKeyChecks);
  if (check && box.open(check.sealed, BELONGING) === CHECK_TEXT) return;
  const ids = check ? [check.sealed.split(".")[1] ?? ""] : await everyKeyId(tx);
  const own = [id, keyIdOf(githubAppKey(masterKey))];
  const foreign = ids.filter((other) => !own.includes(other));
  const replaced = foreign.find((other) => other === options.masterKeyReplaces);
  if (foreign[0] !== undefined && replaced === undefined) {
    if (foreign.length === ids.length) throw new WrongMasterKey(foreign[0], id);
    return log.error(
      { keyIds: foreign.join(" ") },
      "some stored secrets were sealed with another master key",
    );
  }
  const made = { orgId: DEFAULT_ORG, sealed: box.seal(CHECK_TEXT, BELONGING) };
  await tx
    .insert(masterKeyChecks)
    .values(made)
    .onConflictDoUpdate({ target: masterKeyChecks.orgId, set: made });
  if (replaced === undefined) return;
  const audit = auditIn(tx, ownOrigin("environment", options.clock.now()));
  await audit({ action: "master_key.replaced", subject: replaced, after: { key_id: id } });
}
