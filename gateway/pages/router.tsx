import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
  redirect,
} from "@tanstack/react-router";
import { ME, mayAs } from "./data/me.ts";
import { parseSearch, stringifySearch } from "./data/search.ts";
import { Fault } from "./parts/states.tsx";
import { NotFound } from "./shell/not-found.tsx";
import { Shell } from "./shell/shell.tsx";

/** Every page reads its own part of the address (data/address.ts); a link may name any text. */
const anySearch = (raw: Record<string, unknown>): Record<string, unknown> => raw;

const root = createRootRouteWithContext<{ client: QueryClient }>()({
  validateSearch: anySearch,
  component: Outlet,
  notFoundComponent: NotFound,
});

const PageFault = ({ error, reset }: ErrorComponentProps) => <Fault error={error} retry={reset} />;

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("./sign-in/sign-in-page.tsx"), "SignInPage"),
});

/** Everything but the sign-in needs a person. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: Shell,
  errorComponent: PageFault,
  beforeLoad: async ({ context, location }) => {
    const me = await context.client.ensureQueryData(ME);
    if (!me) throw redirect({ to: "/sign-in", search: { next: location.href } });
    return { me };
  },
});

const start = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  beforeLoad: ({ context: { me } }) => {
    throw redirect({ to: mayAs(me.role, "manager") ? "/overview" : "/pull-requests" });
  },
});

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: "/overview",
  component: lazyRouteComponent(() => import("./overview/overview-page.tsx"), "OverviewPage"),
});

const reports = createRoute({
  getParentRoute: () => signedIn,
  path: "/reports",
  component: lazyRouteComponent(() => import("./reports/reports-page.tsx"), "ReportsPage"),
});

const report = createRoute({
  getParentRoute: () => signedIn,
  path: "/reports/$id",
  component: lazyRouteComponent(() => import("./reports/report-page.tsx"), "ReportPage"),
});

const explore = createRoute({
  getParentRoute: () => signedIn,
  path: "/explore",
  component: lazyRouteComponent(() => import("./explore/explore-page.tsx"), "ExplorePage"),
});

const pullRequests = createRoute({
  getParentRoute: () => signedIn,
  path: "/pull-requests",
  component: lazyRouteComponent(() => import("./pull-requests/pull-requests-page.tsx"), "PullRequestsPage"),
});

const pullRequest = createRoute({
  getParentRoute: () => signedIn,
  path: "/pull-requests/$owner/$repo/$n",
  component: lazyRouteComponent(() => import("./pull-requests/pull-request-page.tsx"), "PullRequestPage"),
});

const requests = createRoute({
  getParentRoute: () => signedIn,
  path: "/requests",
  component: lazyRouteComponent(() => import("./requests/requests-page.tsx"), "RequestsPage"),
});

const request = createRoute({
  getParentRoute: () => signedIn,
  path: "/requests/$id",
  component: lazyRouteComponent(() => import("./requests/request-page.tsx"), "RequestPage"),
});

const toolCalls = createRoute({
  getParentRoute: () => signedIn,
  path: "/tool-calls",
  component: lazyRouteComponent(() => import("./tool-calls/tool-calls-page.tsx"), "ToolCallsPage"),
});

const setUp = createRoute({
  getParentRoute: () => signedIn,
  path: "/set-up",
  component: lazyRouteComponent(() => import("./set-up/set-up-page.tsx"), "SetUpPage"),
});
const own = createRoute({
  getParentRoute: () => signedIn,
  path: "/me",
  component: lazyRouteComponent(() => import("./me/me-page.tsx"), "MePage"),
});

const device = createRoute({
  getParentRoute: () => signedIn,
  path: "/device",
  component: lazyRouteComponent(() => import("./device/device-page.tsx"), "DevicePage"),
});

const settingsPage = <Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => signedIn, path, component });

/** Administration is loaded when it is first needed. */
const administration = [
  settingsPage(
    "/settings/providers",
    lazyRouteComponent(() => import("./settings/providers-page.tsx"), "ProvidersPage"),
  ),
  settingsPage(
    "/settings/routes",
    lazyRouteComponent(() => import("./settings/routes-page.tsx"), "RoutesPage"),
  ),
  settingsPage(
    "/settings/keys",
    lazyRouteComponent(() => import("./settings/keys-page.tsx"), "KeysPage"),
  ),
  settingsPage(
    "/settings/limits",
    lazyRouteComponent(() => import("./settings/limits-page.tsx"), "LimitsPage"),
  ),
  settingsPage(
    "/settings/guardrails",
    lazyRouteComponent(() => import("./settings/guardrails-page.tsx"), "GuardrailsPage"),
  ),
  settingsPage(
    "/settings/prices",
    lazyRouteComponent(() => import("./settings/prices-page.tsx"), "PricesPage"),
  ),
  settingsPage(
    "/settings/tool-servers",
    lazyRouteComponent(() => import("./settings/tool-servers-page.tsx"), "ToolServersPage"),
  ),
  settingsPage(
    "/settings/hook-policies",
    lazyRouteComponent(() => import("./settings/hook-policies-page.tsx"), "HookPoliciesPage"),
  ),
  settingsPage(
    "/settings/people",
    lazyRouteComponent(() => import("./settings/people-page.tsx"), "PeoplePage"),
  ),
  settingsPage(
    "/settings/github",
    lazyRouteComponent(() => import("./settings/github-page.tsx"), "GithubPage"),
  ),
  settingsPage(
    "/settings",
    lazyRouteComponent(() => import("./settings/settings-page.tsx"), "SettingsPage"),
  ),
  settingsPage(
    "/settings/audit",
    lazyRouteComponent(() => import("./settings/audit-page.tsx"), "AuditPage"),
  ),
];

export function newRouter(client: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([
      signIn,
      signedIn.addChildren([
        start,
        overview,
        reports,
        report,
        explore,
        pullRequests,
        pullRequest,
        requests,
        request,
        toolCalls,
        setUp,
        own,
        device,
        ...administration,
      ]),
    ]),
    context: { client },
    parseSearch,
    stringifySearch,
    defaultErrorComponent: PageFault,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
    defaultPreload: "intent",
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof newRouter>;
  }
}
