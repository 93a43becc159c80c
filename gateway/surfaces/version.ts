import { Elysia } from "elysia";
import type { ReportReader } from "../identity/authorize.ts";
import type { RecordVersion } from "../stores/reports/record-version.ts";
import { REPORTS_DOCS } from "./reports-docs.ts";

export type VersionDeps = {
  recordVersion: RecordVersion;
  /** Who may read reports, and which records they cover. @throws GatewayError for everyone else. */
  authorizeReports(request: Request): Promise<ReportReader>;
};

/** `GET /v1/version`: pages that show reports poll it, and reload the reports when it changes. */
export const version = (deps: VersionDeps) =>
  new Elysia({ name: "surface.version" }).get(
    "/v1/version",
    async ({ request, set }) => {
      const { scope, cookie } = await deps.authorizeReports(request);
      if (cookie !== null) set.headers["set-cookie"] = cookie;
      return { version: await deps.recordVersion(scope?.team ?? null) };
    },
    { detail: REPORTS_DOCS.version },
  );
