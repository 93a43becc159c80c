import type { Settings } from "./settings.ts";

type Access = "read" | "write";

/** The permissions that the App needs: to read pull requests, and to write only for features that are on. */
export function neededPermissions(settings: Settings): Record<string, Access> {
  return {
    metadata: "read",
    pull_requests: settings.pull_request_comment ? "write" : "read",
    ...(settings.pull_request_check ? { checks: "write" } : {}),
    ...(settings.digest_repository === null ? {} : { issues: "write" }),
  };
}

/** Permissions that the settings need and `granted` lacks, e.g. `checks: write`. */
export function missingPermissions(
  granted: Readonly<Record<string, string | undefined>>,
  settings: Settings,
): string[] {
  const isGranted = ([name, access]: [string, Access]) =>
    // `write` and `admin` include reading.
    access === "read" ? granted[name] !== undefined : granted[name] === "write" || granted[name] === "admin";
  return Object.entries(neededPermissions(settings))
    .filter((it) => !isGranted(it))
    .map(([name, access]) => `${name}: ${access}`);
}
