import { createHash } from "node:crypto";

/** Maximum number of ids stored for one answer, which bounds the size of its record. */
export const KEPT_IDS_MAX = 1000;

/** Hash that is stored for a provider's id of a container or an item: 96 bits of its SHA-256, as 16 characters. */
export const keptIdHash = (id: string): string =>
  createHash("sha256").update(id).digest("base64url").slice(0, 16);
