import { DEFAULT_ORG } from "./ids.ts";

/** What the sealed credentials of an App belong to (secret-box.ts). */
export const sealedFor = (appId: number): string => `${DEFAULT_ORG}|${appId}|github_app`;
