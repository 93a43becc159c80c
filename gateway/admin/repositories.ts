import { type RepositoryCoverage, readCoverage } from "#drizzle/coverage.ts";
import { pageOf, readInstant } from "#shared/admin/fields.ts";
import {
  BackfillBody,
  BackfillView,
  RepositoryReading,
  type RepositoryView,
  RepositoryView as View,
} from "#shared/admin/repositories.ts";
import { missingPermissions } from "#shared/github-permissions.ts";
import type { Settings } from "#shared/settings.ts";
import { viewAs } from "#shared/view-as.ts";
import { GatewayError, refuse } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import { audited } from "../stores/change.ts";
import { requestBackfill } from "../stores/github-app.ts";
import { readSettings } from "../stores/settings.ts";
import { type AdminDeps, adminPart, readDatabase } from "./deps.ts";
import { adminRoute, LIST_QUERY } from "./documented.ts";
import { pageFrom, readListQuery } from "./list.ts";

const docs = adminRoute("records");

/** `/admin/v1/repositories`: what the GitHub App sees, since when, and how far it has read it. */
export const adminRepositories = (deps: AdminDeps) =>
  adminPart(deps, "repositories")
    .get(
      "",
      async ({ request }) => {
        const { limit, after } = readListQuery(request, []);
        const place = after === null ? 0 : readCursor(after);
        const rows = await readDatabase(deps, (db) => readCoverage(db, { limit: limit + 1, after: place }));
        const settings = await readDatabase(deps, readSettings);
        const view = (row: RepositoryCoverage) => viewOf(row, settings);
        return pageFrom(rows, limit, { view, cursor: ({ id }) => String(id) });
      },
      docs({
        summary: "List the repositories that the GitHub App sees, or once saw",
        query: LIST_QUERY,
        answers: { 200: pageOf(View) },
      }),
    )
    .post(
      "/backfill",
      async ({ request, origin }) => {
        const { since, repository = null } = await readJson(deps, request, BackfillBody);
        const sinceMs = since === undefined ? null : readInstant(since);
        const from = sinceMs === null ? null : new Date(sinceMs).toISOString();
        const repositories = await audited(deps.database, origin, async (tx, audit) => {
          const count = await requestBackfill(tx, { since: from, repository }, deps.clock.now());
          if (count === 0 && repository !== null)
            throw new GatewayError("not_found", "The GitHub App has no repository of this name.");
          const after = { since: from, repositories: count };
          await audit({ action: "repositories.backfill", subject: repository ?? "all repositories", after });
          return count;
        });
        return { repositories };
      },
      docs({
        summary: "Have the GitHub App read pull requests again",
        description: "Known data stays; missing data is added. The App starts within seconds.",
        body: BackfillBody,
        answers: { 200: BackfillView },
      }),
    );

const viewOf = (row: RepositoryCoverage, settings: Settings): RepositoryView =>
  viewAs(View, {
    ...row,
    id: String(row.id),
    name: row.fullName,
    missingPermissions: row.permissions === null ? [] : missingPermissions(row.permissions, settings),
    reading: row.pass && viewAs(RepositoryReading, { ...row.pass, pullRequests: row.pass.pulls }),
  });

function readCursor(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  refuse("after: Expected the `next` of the previous page.");
}
