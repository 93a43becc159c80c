export type DocsPage = {
  /** Its address below `/docs/`. */
  path: string;
  title: string;
  /** One line for the list of contents. */
  summary: string;
  /** From the root of the checkout. */
  file: string;
  /** Headings of the sections it has; none: all sections of the file that no other page has. */
  sections: readonly string[];
};

export type DocsGroup = { title: string; pages: readonly DocsPage[] };

type Row = readonly [path: string, title: string, summary: string, file: string, ...sections: string[]];

const README = "README.md";
const RUNNING = "gateway/README.md";
const COMMAND = "gateway/cli/README.md";
const PROVIDERS = "gateway/providers/README.md";
const REPORTS = "gateway/reports/README.md";
const SURFACES = "gateway/surfaces/README.md";

// biome-ignore format: one row a page
const INSTALL: readonly Row[] = [
  ["install", "Install and make a first call", "Start the gateway with its own Postgres, and call the built-in provider.", README, "Tallygate", "First call"],
  ["providers-routes-and-keys", "Add providers, routes and keys", "Store a credential, name a route, and create a client key.", README, "Providers, routes and keys"],
  ["providers", "Kinds of provider", "Each kind with its variable, address, timeouts and limits.", PROVIDERS],
  ["settings", "Settings", "All environment variables, and administrators' switches.", RUNNING, "Settings", "Switches"],
  ["deploy", "Deploy", "One program, a container, compose, Kubernetes, systemd, proxies and monitoring.", "gateway/deploy/README.md"],
];

// biome-ignore format: one row a page
const CONNECT: readonly Row[] = [
  ["connect", "Connect an SDK or an agent", "Change the base URL and the key; nothing else changes.", README, "Point your SDK at it"],
  ["labels", "Label calls", "Show who made a call, and which task it belongs to.", README, "Labels"],
  ["command-line", "The command tallygate", "Sign in, connect agents, print reports and find faults from a shell.", COMMAND],
  ["tool-servers", "Tool servers", "One Model Context Protocol address for agents, without the servers' credentials.", "gateway/mcp/README.md"],
  ["hooks", "Agents' hooks", "Record and deny tool calls that pass no gateway.", "gateway/hooks/README.md"],
  ["agents-metrics", "Agents' metrics", "Receive figures from agents that call a vendor directly.", "gateway/agent-metrics/README.md"],
];

// biome-ignore format: one row a page
const MERGE: readonly Row[] = [
  ["cost-per-merged-pull-request", "Get the cost per merged pull request", "Switch on stamping, create the GitHub App, and name the session.", README, "Cost per merged pull request"],
  ["sessions", "From an agent's work to the cost of a merge", "Name the session in commits and pull requests.", COMMAND, "From an agent's work to the cost of a merge"],
  ["how-a-merge-gets-its-cost", "How a merge gets its cost", "Each case with a picture: what counts for a merge, and what does not.", "github-app/COST-OF-A-MERGE.md"],
  ["github-app", "The GitHub App", "Set-up, joining, claims, reverts, feedback on GitHub, and the weekly digest.", "github-app/README.md"],
];

// biome-ignore format: one row a page
const ROLL_OUT: readonly Row[] = [
  ["roll-out", "Roll out to 500", "The steps from one gateway on a laptop to an organization.", "gateway/deploy/ROLL-OUT.md"],
  ["people", "People and sign-in", "One-time links, single sign-on, directories, roles and admin tokens.", "gateway/identity/README.md"],
  ["who-sees-and-pays", "Who sees what, and who pays", "Rights by role, pull requests, budgets that a call counts in, and refusals.", "gateway/identity/RIGHTS.md"],
  ["people-come-and-go", "People come and go", "Someone joins, moves, leaves, or a key is lost or leaked.", "gateway/identity/COME-AND-GO.md"],
  ["administration", "Administration", "Keys, teams, budgets, limits, guardrails, records and captured bodies.", "gateway/admin/README.md"],
  ["settings-from-a-file", "Settings from a file", "Keep providers, routes, teams and limits in version control.", COMMAND, "Settings from a file"],
  ["routing", "Routing", "Routes, `auto`, fallbacks, and several deployments of one model.", "gateway/routing/README.md"],
  ["sizing", "Sizing", "Cores, disks and cost for a rate of calls, and for the records kept.", "gateway/deploy/SIZING.md"],
  ["scaling", "Replicas and scaling", "A replica for reports, and what to do beyond one gateway.", RUNNING, "A replica for reports", "Scaling further"],
];

// biome-ignore format: one row a page
const OPERATE: readonly Row[] = [
  ["operate", "Run it", "Health, metrics, upgrades, all cores, network and the embedded Postgres.", RUNNING],
  ["upgrade", "Upgrade", "The steps, and what happens to gateways that still run the version before.", "gateway/deploy/UPGRADE.md"],
  ["backup", "Back up, restore and move", "One file of the whole database, checked; and the way to another database.", RUNNING, "Backup", "Moving the database"],
  ["after-a-restore", "After a restore", "What a restore brings back to life, and what to do next.", RUNNING, "After a restore"],
  ["poolers", "Poolers and managed Postgres", "PgBouncer, RDS, Supabase, Neon: what works, and which address to use.", RUNNING, "Poolers and managed Postgres"],
  ["troubleshooting", "Troubleshooting", "By symptom: errors, wrong figures, merges without a cost, failed starts.", "gateway/TROUBLESHOOTING.md"],
  ["faults", "What happens when…", "What callers see when something fails, what is recorded, and what to do.", "gateway/FAULTS.md"],
  ["traces", "Traces and metrics out", "Send traces and metrics of calls to a collector.", "gateway/telemetry/README.md"],
  ["recorder", "Recorder", "How a record survives while Postgres is unavailable.", "gateway/recorder/README.md"],
  ["what-is-recorded", "What is recorded, and what is not", "What a record contains, and what no table contains.", README, "What is recorded, and what is not"],
  ["security", "Security", "Report a vulnerability, and see what Tallygate guarantees.", ".github/SECURITY.md"],
  ["changelog", "Changelog", "What each release changes.", "CHANGELOG.md"],
];

// biome-ignore format: one row a page
const UNDERSTAND: readonly Row[] = [
  ["ask-for-a-report", "Ask for a report", "Query any figure with curl or from a shell.", README, "Reports"],
  ["reports", "Reports", "Built-in and saved reports, dimensions, measures and retention.", REPORTS],
  ["accuracy", "How accurate figures are", "Where a figure is exact, a lower bound (`≥`), or unknown.", REPORTS, "Accuracy"],
  ["how-a-price-is-found", "How a price is found", "Which price a call gets, and what to do if it is missing or wrong.", "gateway/pricing/README.md"],
  ["how-a-figure-comes-about", "How a figure comes about", "One record from the provider's bytes to the invoice; correct a price of the past.", "gateway/pricing/HISTORY.md"],
  ["close-a-month", "Close a month", "Reconcile, restate, statement and lock, each as command and in the console.", "gateway/pricing/HISTORY.md", "Close a month"],
  ["prices", "Prices", "Enter prices, and price records later.", PROVIDERS, "Prices"],
  ["vendor-bills", "Vendor bills", "Read vendors' bills, and compare them with what was metered.", "gateway/bills/README.md"],
  ["console", "Console", "The pages in the browser, and the question each one answers.", "gateway/pages/README.md"],
  ["glossary", "Glossary", "The words of these pages, each in a line.", "gateway/GLOSSARY.md"],
];

// biome-ignore format: one row a page
const API: readonly Row[] = [
  ["addresses", "Addresses and formats", "Model calls in each vendor's format, and in another vendor's.", SURFACES],
  ["errors", "Errors", "Statuses and what to do about them.", SURFACES, "Errors"],
  ["retries", "Retries", "When to retry, with a client that does so.", SURFACES, "Retries"],
];

// biome-ignore format: one row a page
const CODE: readonly Row[] = [
  ["architecture", "Architecture", "How a call, a report and a merge pass through the parts, and where each is stored.", "gateway/ARCHITECTURE.md"],
  ["contributing", "Contributing", "Set up a checkout, find the code, and follow the recipes.", ".github/CONTRIBUTING.md"],
  ["decisions", "Decisions", "Why the code is the way it is.", "shared/decisions/README.md"],
  ["classifier", "Classifier", "How `auto` chooses a route, and how accurate it is.", "gateway/classifier/README.md"],
  ["measured", "Measured and not built", "Experiments that gained too little.", "test/bench/NOTES.md"],
  ["releasing", "Making a release", "What a release fixes, and the steps of one.", ".github/RELEASING.md"],
];

/** The order of the docs: by task. Every page of the site is here, and no file is read that is not. */
export const CONTENTS: readonly DocsGroup[] = [
  { title: "Install", pages: INSTALL.map(asPage) },
  { title: "Connect an agent", pages: CONNECT.map(asPage) },
  { title: "First joined merge", pages: MERGE.map(asPage) },
  { title: "Roll out to 500", pages: ROLL_OUT.map(asPage) },
  { title: "Operate", pages: OPERATE.map(asPage) },
  { title: "Understand a figure", pages: UNDERSTAND.map(asPage) },
  { title: "API", pages: API.map(asPage) },
  { title: "Change the code", pages: CODE.map(asPage) },
];

/** Sections that only lead to other pages, as the list of contents does: links to them lead there. */
export const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  [README]: ["Agents' tools", "Operation", "All pages"],
};

function asPage([path, title, summary, file, ...sections]: Row): DocsPage {
  return { path, title, summary, file, sections };
}
