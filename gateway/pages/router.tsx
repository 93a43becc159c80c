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
  useRouter,
} from "@tanstack/react-router";
import { versionKnown } from "./data/follow-records.ts";
import { hasCalls } from "./data/has-calls.ts";
import {
  AUDIT_FILTERS,
  PULL_REQUEST_FILTERS,
  REQUEST_FILTERS,
  TOOL_CALL_FILTERS,
} from "./data/list-search.ts";
import { ME, mayAs } from "./data/me.ts";
import { overviewQuery } from "./data/overview.ts";
import {
  COSTS,
  EXPLAINED,
  each,
  explore,
  frame,
  LIVE,
  OWN_USAGE,
  type Parameters,
  resources,
  STATEMENTS,
  tables,
  VENDOR_BILLS,
} from "./data/parameters.ts";
import { CATALOGUE_QUERY } from "./data/reports.ts";
import { frameSearch, parseSearch, stringifySearch } from "./data/search.ts";
import { PageHead } from "./parts/page-head.tsx";
import { Fault } from "./parts/states.tsx";
import { addressFaults } from "./shell/address-faults.ts";
import type { NavigationPage } from "./shell/navigation.ts";
import { NotFound } from "./shell/not-found.tsx";
import { Shell } from "./shell/shell.tsx";

/** Every page reads its own part of the address (data/address.ts); a link may name any text. */
const anySearch = (raw: Record<string, unknown>): Record<string, unknown> => raw;

const root = createRootRouteWithContext<{ client: QueryClient }>()({
  validateSearch: anySearch,
  component: Outlet,
  notFoundComponent: NotFound,
});

/** A page that could not be loaded, or the start without an answer. */
function PageFault({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return (
    <div className="content">
      <PageHead title="This page could not be loaded" />
      <Fault error={error} retry={again} />
    </div>
  );
}

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
    // Known by the time that the page asks for its data.
    void versionKnown(context.client);
    if (/^\/(reports\/|explore)/.test(location.pathname)) void context.client.prefetchQuery(CATALOGUE_QUERY);
    return { me };
  },
});

type Loaded<Name extends string> = Record<Name, RouteComponent>;

/** `parameters`: what its address may name. `facts`: where it is not as the page of the navigation that it is below. */
const page =
  <Path extends string>(path: Path, parameters: Parameters = {}, facts: Partial<NavigationPage> = {}) =>
  <Name extends string>(load: () => Promise<Loaded<Name>>, name: Name) =>
    createRoute({
      getParentRoute: () => signedIn,
      path,
      component: lazyRouteComponent(load, name),
      staticData: { parameters, facts },
    });

const start = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  beforeLoad: async ({ context: { me } }) => {
    if (!mayAs(me.role, "manager")) throw redirect({ to: "/me" });
    const isNew = me.role === "administrator" && !(await hasCalls());
    throw redirect({ to: isNew ? "/set-up" : "/overview" });
  },
});

/** Its data is on its way with its code, and when a link to it is pointed at. */
const overview = createRoute({
  getParentRoute: () => signedIn,
  path: "/overview",
  component: lazyRouteComponent(() => import("./overview/overview-page.tsx"), "OverviewPage"),
  staticData: { parameters: frame() },
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client, me }, deps }) => {
    if (!mayAs(me.role, "manager") || addressFaults(deps, frame()).length > 0) return;
    void client.prefetchQuery(overviewQuery(frameSearch(deps)));
  },
});

/** Every page of a signed-in person; its code is loaded when it is first needed. */
const pages = [
  overview,
  page("/reports", each(["q"]))(() => import("./reports/reports-page.tsx"), "ReportsPage"),
  page("/reports/$id", frame())(() => import("./reports/report-page.tsx"), "ReportPage"),
  page("/explore", explore())(() => import("./explore/explore-page.tsx"), "ExplorePage"),
  page("/pull-requests", each([...Object.keys(PULL_REQUEST_FILTERS), "sort"]))(
    () => import("./pull-requests/pull-requests-page.tsx"),
    "PullRequestsPage",
  ),
  page("/pull-requests/costs", COSTS, { name: "Cost of merges", role: "manager" })(
    () => import("./pull-requests/costs-page.tsx"),
    "CostsPage",
  ),
  page("/pull-requests/explained", EXPLAINED, { name: "Explained spend", role: "manager" })(
    () => import("./pull-requests/explained-page.tsx"),
    "ExplainedPage",
  ),
  page("/pull-requests/$owner/$repo/$n")(
    () => import("./pull-requests/pull-request-page.tsx"),
    "PullRequestPage",
  ),
  page("/requests", { ...each(Object.keys(REQUEST_FILTERS)), ...LIVE })(
    () => import("./requests/requests-page.tsx"),
    "RequestsPage",
  ),
  page("/requests/$id")(() => import("./requests/request-page.tsx"), "RequestPage"),
  page("/sessions/$session")(() => import("./sessions/session-page.tsx"), "SessionPage"),
  page("/tool-calls", { ...each(Object.keys(TOOL_CALL_FILTERS)), ...LIVE })(
    () => import("./tool-calls/tool-calls-page.tsx"),
    "ToolCallsPage",
  ),
  page("/set-up")(() => import("./set-up/set-up-page.tsx"), "SetUpPage"),
  page("/me", OWN_USAGE)(() => import("./me/me-page.tsx"), "MePage"),
  page("/device", each(["user_code"]))(() => import("./device/device-page.tsx"), "DevicePage"),
  page("/settings/providers", resources("provider"))(
    () => import("./settings/providers-page.tsx"),
    "ProvidersPage",
  ),
  page("/settings/routes", resources("route"))(() => import("./settings/routes-page.tsx"), "RoutesPage"),
  page("/settings/keys", resources("key"))(() => import("./settings/keys-page.tsx"), "KeysPage"),
  page("/settings/limits", resources("budget", "key", "person", "team"))(
    () => import("./settings/limits-page.tsx"),
    "LimitsPage",
  ),
  page("/settings/guardrails", resources("guardrail"))(
    () => import("./settings/guardrails-page.tsx"),
    "GuardrailsPage",
  ),
  page("/settings/prices", {
    ...resources("price", "discount"),
    ...tables("in-force", "list", "months", "restate"),
    on: {},
  })(() => import("./settings/prices-page.tsx"), "PricesPage"),
  page("/settings/vendor-bills", { ...resources("vendor account", "seat", "commitment"), ...VENDOR_BILLS })(
    () => import("./settings/vendor-bills-page.tsx"),
    "VendorBillsPage",
  ),
  page("/settings/statements", STATEMENTS)(() => import("./settings/statements-page.tsx"), "StatementsPage"),
  page("/settings/tool-servers", resources("tool server"))(
    () => import("./settings/tool-servers-page.tsx"),
    "ToolServersPage",
  ),
  page("/settings/alerts", resources("alert"))(() => import("./settings/alerts-page.tsx"), "AlertsPage"),
  page("/settings/hook-policies", resources("hook policy"))(
    () => import("./settings/hook-policies-page.tsx"),
    "HookPoliciesPage",
  ),
  page("/settings/people", resources("person", "team", "token", "role mapping"))(
    () => import("./settings/people-page.tsx"),
    "PeoplePage",
  ),
  page("/settings/people/$id")(() => import("./settings/person-page.tsx"), "PersonPage"),
  page("/settings/github", tables("repository"))(() => import("./settings/github-page.tsx"), "GithubPage"),
  page("/settings")(() => import("./settings/settings-page.tsx"), "SettingsPage"),
  createRoute({ getParentRoute: () => signedIn, path: "$", component: NotFound }),
  page("/settings/audit", each(Object.keys(AUDIT_FILTERS)))(
    () => import("./settings/audit-page.tsx"),
    "AuditPage",
  ),
];

export function newRouter(client: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([signIn, signedIn.addChildren([start, ...pages])]),
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
  interface StaticDataRouteOption {
    parameters?: Parameters;
    facts?: Partial<NavigationPage>;
  }
}
