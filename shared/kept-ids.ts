import { createHash } from "node:crypto";

/** Most ids noted of one answer, which bounds its record. */
export const KEPT_IDS_MAX = 1000;

/** What is stored of an id that a provider gave a container or an item: 96 bits of its SHA-256, as 16 characters. */
export const keptIdHash = (id: string): string =>
  createHash("sha256").update(id).digest("base64url").slice(0, 16);
