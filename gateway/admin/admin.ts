import { type AnyElysia, Elysia } from "elysia";
import { adminAccounts } from "./accounts.ts";
import { adminAgentSessions, adminMetricsDropped } from "./agent-metrics.ts";
import { adminAudit } from "./audit.ts";
import { adminBudgets } from "./budgets.ts";
import { adminClassifier } from "./classifier.ts";
import type { AdminDeps } from "./deps.ts";
import { adminDiscounts } from "./discounts.ts";
import { adminExport } from "./export.ts";
import { adminExportDestination } from "./export-destination.ts";
import { adminGithubApp } from "./github-app.ts";
import { adminGuardrails, adminGuardrailTry } from "./guardrails.ts";
import { adminHookPolicies } from "./hook-policies.ts";
import { adminKeys } from "./keys.ts";
import { adminMcpServers } from "./mcp-servers.ts";
import { adminSetupLinks, adminSignInLinks } from "./one-time-links.ts";
import { adminPeople } from "./people.ts";
import { adminPeriods } from "./periods.ts";
import { adminPriceList } from "./price-list.ts";
import { adminPrices } from "./prices.ts";
import { adminProviderTest } from "./provider-test.ts";
import { adminProviders } from "./providers.ts";
import { adminPullRequests } from "./pull-requests.ts";
import { adminRepositories } from "./repositories.ts";
import { adminRepricing } from "./reprice.ts";
import { adminRequests } from "./requests.ts";
import { adminRoleMappings } from "./role-mappings.ts";
import { adminRoutes } from "./routes.ts";
import { adminReports } from "./saved-reports.ts";
import { adminSearch } from "./search.ts";
import { adminCommitments, adminSeats } from "./seats.ts";
import { adminSettings } from "./settings.ts";
import { adminSpend } from "./spend.ts";
import { adminStatements } from "./statements.ts";
import { adminTeams } from "./teams.ts";
import { adminTokenRoutes } from "./tokens.ts";
import { adminToolCalls } from "./tool-calls.ts";
import { adminVendorAccounts } from "./vendor-accounts.ts";
import { adminReconciliation, adminVendorBills } from "./vendor-bills.ts";

export type { AdminDeps } from "./deps.ts";

/** The parts of the admin API, in the order of its documentation. A list: the types of all routes are too deep for a chain. */
const PARTS: readonly ((deps: AdminDeps) => AnyElysia)[] = [
  adminProviders,
  adminProviderTest,
  adminRoutes,
  adminClassifier,
  adminTeams,
  adminBudgets,
  adminSpend,
  adminSearch,
  adminKeys,
  adminPriceList,
  adminPrices,
  (deps) => adminRepricing(deps, "reprice"),
  (deps) => adminRepricing(deps, "restate"),
  adminPeriods,
  adminDiscounts,
  adminVendorAccounts,
  adminVendorBills,
  adminReconciliation,
  adminSeats,
  adminCommitments,
  adminGuardrailTry,
  adminGuardrails,
  adminHookPolicies,
  adminMcpServers,
  adminReports,
  adminSettings,
  adminRequests,
  adminAudit,
  adminMetricsDropped,
  adminExport,
  adminExportDestination,
  adminStatements,
  adminToolCalls,
  adminAgentSessions,
  adminPullRequests,
  adminRepositories,
  adminSetupLinks,
  adminGithubApp,
  adminPeople,
  adminAccounts,
  adminTokenRoutes,
  adminRoleMappings,
  adminSignInLinks,
];

/** The admin API under `/admin/v1`. A route is for administrators, unless it names another role. */
export function admin(deps: AdminDeps): AnyElysia {
  const app: AnyElysia = new Elysia({ name: "admin", prefix: "/admin/v1" });
  for (const part of PARTS) app.use(part(deps));
  return app;
}
