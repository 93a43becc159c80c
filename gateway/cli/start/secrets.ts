import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { existingCluster } from "#drizzle/embedded/location.ts";
import { parseMasterKey } from "#shared/master-key.ts";
import { readSecretFile, writeSecretFile } from "#shared/secret-file.ts";
import type { LauncherConfig } from "../../config.ts";
import { newSecret } from "../../stores/client-secret.ts";

/** `adminKeyFile` is null if the key came from the environment. */
export type InstallationSecrets = { adminKey: string; adminKeyFile: string | null; masterKey: string };

/**
 * The two keys of an installation: from the environment, else from the data directory, else generated and kept there,
 * readable by this user alone.
 * @throws Error if a kept master key is damaged, or missing beside a database that was made with it.
 */
export function ensureSecrets(config: LauncherConfig): InstallationSecrets {
  const adminKeyFile = join(config.dataDirectory, "admin-key");
  const masterKeyFile = join(config.dataDirectory, "master-key");
  if (config.masterKey === null && !existsSync(masterKeyFile)) requireNoDatabase(config, masterKeyFile);
  const masterKey =
    config.masterKey?.reveal() ?? kept(masterKeyFile, () => randomBytes(32).toString("base64"));
  if (parseMasterKey(masterKey) === null) {
    throw new Error(
      `${masterKeyFile} does not hold 32 bytes in base64. It decrypts providers' credentials: restore it from a backup.`,
    );
  }
  return {
    adminKey: config.adminKey?.reveal() ?? kept(adminKeyFile, newAdminKey),
    adminKeyFile: config.adminKey === null ? adminKeyFile : null,
    masterKey,
  };
}

/** A new key in place of a lost one would open nothing that the database keeps sealed. */
function requireNoDatabase({ dataDirectory, databaseUrl }: LauncherConfig, masterKeyFile: string): void {
  const cluster = databaseUrl === null ? existingCluster(dataDirectory) : null;
  if (cluster === null) return;
  throw new Error(
    `${masterKeyFile} is missing, but the database in ${cluster} was made with it. Providers' credentials and captured ` +
      `bodies cannot be read without it: restore it from a backup, or set MASTER_KEY. If it is lost for good, make a new ` +
      `one with \`openssl rand -base64 32 > ${masterKeyFile}\` and enter the credentials again.`,
  );
}

const kept = (file: string, make: () => string): string =>
  readSecretFile(file) ?? writeSecretFile(file, make());

/** `tga_` and 256 random bits in base62. */
const newAdminKey = (): string => newSecret("tga_");
