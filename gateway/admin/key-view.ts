import { KeyView } from "#shared/admin/keys.ts";
import type { KeyWithSecrets } from "../stores/keys.ts";
import { viewAs } from "./view-as.ts";

/** A client key as the API shows it. */
export const keyView = (key: KeyWithSecrets, now: Date): KeyView =>
  viewAs(KeyView, {
    ...key,
    status: statusOf(key, now),
    secrets: key.secrets.map(({ lastFour, createdAt, expiresAt }) => ({
      last_four: lastFour,
      created_at: createdAt,
      expires_at: expiresAt,
    })),
  });

function statusOf({ revokedAt, expiresAt }: KeyWithSecrets, now: Date): KeyView["status"] {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && Date.parse(expiresAt) <= now.getTime() ? "expired" : "active";
}
