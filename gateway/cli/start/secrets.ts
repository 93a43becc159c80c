import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { parseMasterKey } from "#shared/master-key.ts";
import { readSecretFile, writeSecretFile } from "#shared/secret-file.ts";
import type { LauncherConfig } from "../../config.ts";
import { newClientSecret } from "../../stores/client-secret.ts";

/** `adminKeyFile` is null if the key came from the environment. */
export type InstallationSecrets = { adminKey: string; adminKeyFile: string | null; masterKey: string };

/**
 * The two keys of an installation: from the environment, else from the data directory, else generated and kept there,
 * readable by this user alone.
 * @throws Error if a kept master key is damaged.
 */
export function ensureSecrets(config: LauncherConfig): InstallationSecrets {
  const adminKeyFile = join(config.dataDirectory, "admin-key");
  const masterKeyFile = join(config.dataDirectory, "master-key");
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

const kept = (file: string, make: () => string): string =>
  readSecretFile(file) ?? writeSecretFile(file, make());

/** `tga_` and 256 random bits in base62. */
const newAdminKey = (): string => newClientSecret().replace(/^tg_/, "tga_");
