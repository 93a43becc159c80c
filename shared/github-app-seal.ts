import { DEFAULT_ORG } from "./ids.ts";

/** The context that an App's sealed credentials are bound to (secret-box.ts). */
export const sealedFor = (appId: number): string => `${DEFAULT_ORG}|${appId}|github_app`;
