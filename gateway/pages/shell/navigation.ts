import type { RoleName } from "../data/me.ts";

/** A page of the main navigation. Its name is the link's text and the page's `h1`. */
export type NavigationPage = {
  name: string;
  path: string;
  /** The least role that has it. The server decides what is answered; this only hides. */
  role: RoleName;
  /** Words under which the palette finds it, too. */
  words?: string;
};

export type NavigationGroup = { title: string | null; pages: readonly NavigationPage[] };

const setting = (name: string, path: string, words: string): NavigationPage => ({
  name,
  path,
  role: "administrator",
  words,
});

export const NAVIGATION: readonly NavigationGroup[] = [
  {
    title: null,
    pages: [
      { name: "Overview", path: "/overview", role: "manager", words: "home spend cost" },
      { name: "Reports", path: "/reports", role: "manager", words: "saved built-in csv" },
      { name: "Explore", path: "/explore", role: "manager", words: "builder query dimensions measures" },
      { name: "Pull requests", path: "/pull-requests", role: "member", words: "pr merged github joined" },
      { name: "Requests", path: "/requests", role: "member", words: "records calls live" },
      { name: "Tool calls", path: "/tool-calls", role: "member", words: "mcp hooks" },
    ],
  },
  {
    title: null,
    pages: [
      { name: "My usage", path: "/me", role: "member", words: "own keys sessions connect agent" },
      { name: "Set up", path: "/set-up", role: "administrator", words: "first run checklist" },
    ],
  },
  {
    title: "Settings",
    pages: [
      setting("Providers", "/settings/providers", "vendor credential openai anthropic"),
      setting("Routes", "/settings/routes", "models auto classifier fallbacks"),
      setting("Keys", "/settings/keys", "client key secret scopes"),
      setting("Limits and budgets", "/settings/limits", "rate budget"),
      setting("Alerts", "/settings/alerts", "notify slack teams e-mail webhook threshold"),
      setting("Guardrails", "/settings/guardrails", "block pattern"),
      setting("Prices", "/settings/prices", "unpriced reprice"),
      setting("Vendor bills", "/settings/vendor-bills", "invoice reconcile billed focus"),
      setting("Statements", "/settings/statements", "chargeback month close period team cost centre"),
      setting("Tool servers", "/settings/tool-servers", "mcp"),
      setting("Hook policies", "/settings/hook-policies", "deny tool"),
      setting("People and teams", "/settings/people", "roles users tokens"),
      setting("GitHub", "/settings/github", "app repositories"),
      setting("Settings", "/settings", "retention digest"),
      setting("Audit log", "/settings/audit", "changes who"),
    ],
  },
];

/** Pages below those of the navigation that are not as these. */
const BELOW: readonly NavigationPage[] = [
  { name: "Cost of merges", path: "/pull-requests/costs", role: "manager" },
  { name: "Explained spend", path: "/pull-requests/explained", role: "manager" },
];

/** The page that an address is of, or below. */
export const pageAt = (pathname: string): NavigationPage | undefined =>
  [...NAVIGATION.flatMap(({ pages }) => pages), ...BELOW]
    .filter(({ path }) => pathname === path || pathname.startsWith(`${path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
