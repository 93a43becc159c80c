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
import { hasCalls } from "./data/records.ts";
import { CATALOGUE_QUERY } from "./data/reports.ts";
import { frameSearch, parseSearch, stringifySearch } from "./data/search.ts";
import { Fault, PageHead } from "./parts/page.tsx";
import { addressFaults } from "./shell/address-faults.ts";
import { NotFound } from "./shell/no-page.tsx";
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

/** A page by the module that exports its component alone, loaded when it is first needed. `parameters`: of its address. */
const page = <Path extends string>(
  path: Path,
  load: () => Promise<Record<string, RouteComponent>>,
  parameters: Parameters = {},
) =>
  createRoute({
    getParentRoute: () => signedIn,
    path,
    component: lazyRouteComponent(async () => ({ Page: Object.values(await load())[0] ?? NotFound }), "Page"),
    staticData: { parameters },
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

const pages = [
  overview,
  page("/reports", () => import("./reports/reports-page.tsx"), each(["q"])),
  page("/reports/$id", () => import("./reports/report-page.tsx"), frame()),
  page("/explore", () => import("./explore/explore-page.tsx"), explore()),
  page(
    "/pull-requests",
    () => import("./pull-requests/pull-requests-page.tsx"),
    each([...Object.keys(PULL_REQUEST_FILTERS), "sort"]),
  ),
  page("/pull-requests/costs", () => import("./pull-requests/costs-page.tsx"), COSTS),
  page("/pull-requests/explained", () => import("./pull-requests/explained-page.tsx"), EXPLAINED),
  page("/pull-requests/$owner/$repo/$n", () => import("./pull-requests/pull-request-page.tsx")),
  page("/requests", () => import("./requests/requests-page.tsx"), {
    ...each(Object.keys(REQUEST_FILTERS)),
    ...LIVE,
  }),
  page("/requests/$id", () => import("./requests/request-page.tsx")),
  page("/sessions/$session", () => import("./sessions/session-page.tsx")),
  page("/tool-calls", () => import("./tool-calls/tool-calls-page.tsx"), {
    ...each(Object.keys(TOOL_CALL_FILTERS)),
    ...LIVE,
  }),
  page("/set-up", () => import("./set-up/set-up-page.tsx")),
  page("/me", () => import("./me/me-page.tsx"), OWN_USAGE),
  page("/device", () => import("./device/device-page.tsx"), each(["user_code"])),
  page("/settings/providers", () => import("./settings/providers-page.tsx"), resources("provider")),
  page("/settings/routes", () => import("./settings/routes-page.tsx"), resources("route")),
  page("/settings/keys", () => import("./settings/keys-page.tsx"), resources("key")),
  page(
    "/settings/limits",
    () => import("./settings/limits-page.tsx"),
    resources("budget", "key", "person", "team"),
  ),
  page("/settings/guardrails", () => import("./settings/guardrails-page.tsx"), resources("guardrail")),
  page("/settings/prices", () => import("./settings/prices-page.tsx"), {
    ...resources("price", "discount"),
    ...tables("in-force", "list", "months", "restate"),
    on: {},
  }),
  page("/settings/vendor-bills", () => import("./settings/vendor-bills-page.tsx"), {
    ...resources("vendor account", "seat", "commitment"),
    ...VENDOR_BILLS,
  }),
  page("/settings/statements", () => import("./settings/statements-page.tsx"), STATEMENTS),
  page("/settings/tool-servers", () => import("./settings/tool-servers-page.tsx"), resources("tool server")),
  page("/settings/alerts", () => import("./settings/alerts-page.tsx"), resources("alert")),
  page(
    "/settings/hook-policies",
    () => import("./settings/hook-policies-page.tsx"),
    resources("hook policy"),
  ),
  page(
    "/settings/people",
    () => import("./settings/people-page.tsx"),
    resources("person", "team", "token", "role mapping"),
  ),
  page("/settings/people/$id", () => import("./settings/person-page.tsx")),
  page("/settings/github", () => import("./settings/github-page.tsx"), tables("repository")),
  page("/settings", () => import("./settings/settings-page.tsx")),
  createRoute({ getParentRoute: () => signedIn, path: "$", component: NotFound }),
  page("/settings/audit", () => import("./settings/audit-page.tsx"), each(Object.keys(AUDIT_FILTERS))),
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
  }
}
