import { Elysia } from "elysia";
import { adminAccounts } from "./accounts.ts";
import { adminAgentSessions, adminMetricsDropped } from "./agent-metrics.ts";
import { adminAudit } from "./audit.ts";
import { adminBudgets } from "./budgets.ts";
import { adminClassifier } from "./classifier.ts";
import type { AdminDeps } from "./deps.ts";
import { adminDiscounts } from "./discounts.ts";
import { adminGithubApp } from "./github-app.ts";
import { adminGuardrails, adminGuardrailTry } from "./guardrails.ts";
import { adminHookPolicies } from "./hook-policies.ts";
import { adminKeys } from "./keys.ts";
import { adminMcpServers } from "./mcp-servers.ts";
import { adminSetupLinks, adminSignInLinks } from "./one-time-links.ts";
import { adminPeople } from "./people.ts";
import { adminPrices } from "./prices.ts";
import { adminProviderTest } from "./provider-test.ts";
import { adminProviders } from "./providers.ts";
import { adminPullRequests } from "./pull-requests.ts";
import { adminRepositories } from "./repositories.ts";
import { adminRequests } from "./requests.ts";
import { adminRoleMappings } from "./role-mappings.ts";
import { adminRoutes } from "./routes.ts";
import { adminReports } from "./saved-reports.ts";
import { adminSearch } from "./search.ts";
import { adminSettings } from "./settings.ts";
import { adminSpend } from "./spend.ts";
import { adminTeams } from "./teams.ts";
import { adminTokenRoutes } from "./tokens.ts";
import { adminToolCalls } from "./tool-calls.ts";

export type { AdminDeps } from "./deps.ts";

/** The admin API under `/admin/v1`. A route is for administrators, unless it names another role. */
export const admin = (deps: AdminDeps) =>
  new Elysia({ name: "admin", prefix: "/admin/v1" })
    .use(adminProviders(deps))
    .use(adminProviderTest(deps))
    .use(adminRoutes(deps))
    .use(adminClassifier(deps))
    .use(adminTeams(deps))
    .use(adminBudgets(deps))
    .use(adminSpend(deps))
    .use(adminSearch(deps))
    .use(adminKeys(deps))
    .use(adminPrices(deps))
    .use(adminDiscounts(deps))
    .use(adminGuardrailTry(deps))
    .use(adminGuardrails(deps))
    .use(adminHookPolicies(deps))
    .use(adminMcpServers(deps))
    .use(adminReports(deps))
    .use(adminSettings(deps))
    .use(adminRequests(deps))
    .use(adminAudit(deps))
    .use(adminMetricsDropped(deps))
    .use(adminToolCalls(deps))
    .use(adminAgentSessions(deps))
    .use(adminPullRequests(deps))
    .use(adminRepositories(deps))
    .use(adminSetupLinks(deps))
    .use(adminGithubApp(deps))
    .use(adminPeople(deps))
    .use(adminAccounts(deps))
    .use(adminTokenRoutes(deps))
    .use(adminRoleMappings(deps))
    .use(adminSignInLinks(deps));
