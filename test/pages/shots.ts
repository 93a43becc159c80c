import type { Page } from "playwright-core";
import type { PersonView } from "#shared/admin/people.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import type { RequestView } from "#shared/admin/records.ts";
import type { GatewayProcess } from "#test/support/gateway-process.ts";
import { LAST_DAY, LAST_MONTH } from "./seeded-month.ts";
import { SAVED_REPORT } from "./seeded-settings.ts";

/** Whose pages are pictured: an administrator with calls of her own. */
export const PERSON = "dev-1@example.com";
const SETTINGS = [
  "providers",
  "routes",
  "keys",
  "limits",
  "guardrails",
  "prices",
  "vendor-bills",
  "statements",
  "tool-servers",
  "alerts",
  "hook-policies",
  "people",
  "github",
  "audit",
] as const;

/** What is pictured: `as`: whose page; `act`: what is done on it first; `undo`: afterwards. */
export type Shot = {
  name: string;
  path: string;
  as?: "administrator" | "member";
  act?: (page: Page) => Promise<unknown>;
  undo?: (page: Page) => Promise<unknown>;
};

/** Changes of last month's prices, before they are made. */
export async function showRestatement(page: Page): Promise<void> {
  const past = page.getByRole("region", { name: "Correct the past" });
  await past.getByLabel("From").fill(`${LAST_MONTH}-01`);
  await past.getByLabel("To").fill(LAST_DAY);
  await past.getByLabel("Model").fill("claude-opus-4-6");
  await past.getByRole("button", { name: "Show what would change" }).click();
  await past.getByRole("button", { name: /^Restate / }).waitFor();
}

async function find(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder(/^Pages, people/).fill(text);
  await page.getByRole("button", { name: text }).first().waitFor();
}

/** Every page of an installation in which nothing has happened yet. */
export const NEW_SHOTS: readonly Shot[] = ["overview", "pull-requests", "requests", "me", "set-up"].map(
  (page) => ({
    name: `new-${page}`,
    path: `/${page}`,
  }),
);

/** Every page, by the name of its pictures; a word in capitals is one of the seeded world. */
export const PAGES: readonly [name: string, path: string, more?: Omit<Shot, "name" | "path">][] = [
  ["overview", "/overview"],
  ["reports", "/reports"],
  ["report", "/reports/spend-by-model?compare=previous_period"],
  ["report-saved", `/reports/${SAVED_REPORT}`],
  ["explore", "/explore?by=day&by=team&measure=cost_usd&view=stacked"],
  ["explore-waterfall", "/explore?by=none&measure=cost_decomposition&compare=previous_period&view=waterfall"],
  ["pull-requests", "/pull-requests"],
  ["costs", "/pull-requests/costs?compare=previous_period"],
  ["explained", "/pull-requests/explained?range=30d&explanation=no_pull_request"],
  ["pull-request", "/PULL_REQUEST"],
  ["pull-request-foreign", "/PULL_REQUEST", { as: "member" }],
  ["session", "/sessions/SESSION"],
  ["requests", "/requests"],
  ["request", "/requests/REQUEST"],
  ["tool-calls", "/tool-calls"],
  ["me", "/me"],
  ["me-member", "/me", { as: "member" }],
  ["device", "/device"],
  ["set-up", "/set-up"],
  ["settings", "/settings"],
  ["settings-person", "/settings/people/PERSON"],
  ["settings-form", "/settings/routes?edit=route:code"],
  [
    "settings-form-refused",
    "/settings/keys?add=key",
    { act: (page) => page.getByRole("dialog").getByRole("button", { name: "Add key" }).click() },
  ],
  ["settings-restatement", "/settings/prices", { act: showRestatement }],
  ["settings-bills", `/settings/vendor-bills?month=${LAST_MONTH}`],
  ["palette", "/requests", { act: (page) => find(page, "checkout") }],
  ["denied", "/settings/keys", { as: "member" }],
  ["not-found", "/nothing/here"],
  ["cannot-ask", "/requests?modle=gpt-5.2"],
  [
    "offline",
    "/requests",
    {
      act: async (page) => {
        await page.context().setOffline(true);
        await page.getByText("You are offline").waitFor();
      },
      undo: (page) => page.context().setOffline(false),
    },
  ],
  ...SETTINGS.map((page): [string, string] => [`settings-${page}`, `/settings/${page}`]),
];

/** The same with what the words name. */
export async function shotsOf(gateway: GatewayProcess): Promise<Shot[]> {
  const records = await gateway.admin<{ data: RequestView[] }>(
    "GET",
    "/requests?model=claude-opus-4-6&state=ok&limit=1",
  );
  const merges = await gateway.admin<{ data: PullRequestView[] }>(
    "GET",
    "/pull-requests?link=joined&limit=100",
  );
  const people = await gateway.admin<{ data: PersonView[] }>("GET", `/people?email=${PERSON}`);
  const [merge] = merges.data.toSorted((a, b) => b.session_requests - a.session_requests);
  const named: Readonly<Record<string, string | undefined>> = {
    PULL_REQUEST: `pull-requests/${merge?.repository}/${merge?.number}`,
    SESSION: merge?.session ?? undefined,
    REQUEST: records.data[0]?.id,
    PERSON: people.data[0]?.id,
  };
  return PAGES.map(([name, path, more]) => ({
    name,
    path: path.replace(/[A-Z_]{6,}$/, (word) => named[word] ?? word),
    ...more,
  }));
}
