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
      {
        name: "Providers",
        path: "/settings/providers",
        role: "administrator",
        words: "vendor credential openai anthropic",
      },
      {
        name: "Routes",
        path: "/settings/routes",
        role: "administrator",
        words: "models auto classifier fallbacks",
      },
      { name: "Keys", path: "/settings/keys", role: "administrator", words: "client key secret scopes" },
      { name: "Limits and budgets", path: "/settings/limits", role: "administrator", words: "rate budget" },
      { name: "Guardrails", path: "/settings/guardrails", role: "administrator", words: "block pattern" },
      { name: "Prices", path: "/settings/prices", role: "administrator", words: "unpriced reprice" },
      { name: "Tool servers", path: "/settings/tool-servers", role: "administrator", words: "mcp" },
      { name: "Hook policies", path: "/settings/hook-policies", role: "administrator", words: "deny tool" },
      {
        name: "People and teams",
        path: "/settings/people",
        role: "administrator",
        words: "roles users tokens",
      },
      { name: "GitHub", path: "/settings/github", role: "administrator", words: "app repositories" },
      { name: "Settings", path: "/settings", role: "administrator", words: "retention digest" },
      { name: "Audit log", path: "/settings/audit", role: "administrator", words: "changes who" },
    ],
  },
];

/** The page of the navigation that an address is of, or below. */
export const pageAt = (pathname: string): NavigationPage | undefined =>
  NAVIGATION.flatMap(({ pages }) => pages)
    .filter(({ path }) => pathname === path || pathname.startsWith(`${path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
