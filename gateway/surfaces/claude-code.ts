import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { ClientKey, Directory } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { type Pico, parsePico } from "../limits/money.ts";
import { budgetPeriodAt } from "../limits/window.ts";
import { type CallerCheck, keyed } from "../plugins/client-key.ts";
import { spentSince } from "../stores/keys.ts";
import { type LimitedKey, limitedKeys } from "../stores/limits/accounts.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { claudeSettingsOf } from "../stores/teams.ts";
import { documented, jsonBody, NO_CLIENT_KEY, NO_DATABASE } from "./documented.ts";

/** The requests other than model calls that Claude Code makes when it is signed in to the gateway. */
type ClaudeCodeDeps = {
  callers: CallerCheck;
  database: Database;
  directory: { current(): Pick<Directory, "settings"> };
  clock: Clock;
};

/** `GET /managed/settings`: the settings of the caller's team. Claude Code fetches them at its start and hourly. */
export const managedSettingsSurface = (deps: ClaudeCodeDeps) =>
  keyed(deps, "managed-settings").get(
    "/managed/settings",
    async ({ request, caller }) => {
      const [team = null] = caller.key.teams ?? [];
      const ofTeam = await withStoreErrors(() => claudeSettingsOf(deps.database.db, team));
      const settings = ofTeam ?? deps.directory.current().settings.claude_settings;
      if (settings === null) throw new GatewayError("not_found", "There are no settings for this team.");
      return answerFor(request, settings);
    },
    {
      clientKey: true,
      detail: documented("Claude Code's managed settings of the caller's team", {
        tag: "Claude Code",
        answers: {
          200: "`settings`, with their `checksum`, which is the ETag, too.",
          304: "They are those of `If-None-Match`.",
          ...NO_CLIENT_KEY,
          404: "Neither the team, nor one above it, nor the organisation has any.",
          ...NO_DATABASE,
        },
      }),
    },
  );

function answerFor(request: Request, settings: Record<string, unknown>): Response {
  const text = JSON.stringify(sorted(settings));
  const checksum = `sha256:${new Bun.CryptoHasher("sha256").update(text).digest("hex")}`;
  const headers = { etag: `"${checksum}"`, vary: "authorization" };
  const known = (request.headers.get("if-none-match") ?? "").split(",").map((tag) => tag.trim());
  if (known.some((tag) => [`"${checksum}"`, `W/"${checksum}"`, checksum].includes(tag))) {
    return new Response(null, { status: 304, headers });
  }
  return Response.json({ uuid: checksum, checksum, settings }, { headers });
}

/** With the members of every object in the order of their names, as Claude Code computes the checksum. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

const BINARY = { "application/x-protobuf": { schema: { type: "string" as const, format: "binary" } } };
const SIGNALS = ["metrics", "logs", "traces"] as const;

/**
 * `POST /v1/metrics`, `/v1/logs` and `/v1/traces`: where a signed-in Claude Code sends its telemetry. All of it is dropped
 * unread: the gateway measures calls itself, and logs may have prompts. A refusal would be an error of the agent's at each export.
 */
export function agentTelemetry(deps: Pick<ClaudeCodeDeps, "callers">) {
  const app = keyed(deps, "agent-telemetry");
  for (const signal of SIGNALS) {
    app.post(`/v1/${signal}`, () => new Response(), {
      clientKey: true,
      parse: "none",
      detail: {
        ...documented(`Accept and drop Claude Code's ${signal}`, {
          tag: "Claude Code",
          answers: { 200: "Nothing is read or kept.", ...NO_CLIENT_KEY },
        }),
        requestBody: { required: false, content: { ...BINARY, ...jsonBody({}) } },
      },
    });
  }
  return app;
}

/** `GET /api/oauth/usage`: the budgets that the caller's calls count in, for Claude Code's `/usage`. */
export const claudeUsage = (deps: ClaudeCodeDeps) =>
  keyed(deps, "claude-usage").get("/api/oauth/usage", ({ caller }) => usageOf(deps, caller.key), {
    clientKey: true,
    detail: documented("What is used of the caller's budgets, as Claude Code reads it", {
      tag: "Claude Code",
      description:
        "Each budget of the key, its team and the teams above as an entry of `limits`; `extra_usage` is the fullest, in US cents.",
      answers: { 200: "The budgets.", ...NO_CLIENT_KEY, 404: "No budget limits the key.", ...NO_DATABASE },
    }),
  });

const PERIODS = { day: "daily", week: "weekly", month: "monthly", quarter: "quarterly" } as const;
type Used = { spent: Pico; budget: Pico; percent: number; group: string; resetsAt: string };

async function usageOf(deps: ClaudeCodeDeps, key: ClientKey) {
  const found = await Promise.all(limitedKeys(key).map((account) => usedOf(deps, account)));
  const used = found.filter((it) => it !== null).toSorted((a, b) => b.percent - a.percent);
  const [fullest] = used;
  if (!fullest) throw new GatewayError("not_found", "No budget limits this key.");
  return {
    extra_usage: {
      is_enabled: true,
      monthly_limit: cents(fullest.budget),
      used_credits: cents(fullest.spent),
      utilization: fullest.percent,
      currency: "USD",
    },
    limits: used.map((it) => ({
      kind: "spend",
      group: it.group,
      percent: it.percent,
      resets_at: it.resetsAt,
      severity: severityOf(it.percent),
      is_active: it === fullest,
    })),
  };
}

/** The used part of a budget in its current period; null: there is no budget. */
async function usedOf(
  { database, clock }: ClaudeCodeDeps,
  { spendId, limits }: LimitedKey,
): Promise<Used | null> {
  if (limits.budget_usd === undefined) return null;
  const period = limits.budget_period ?? "month";
  const { from, to } = budgetPeriodAt(period, clock.now());
  const spent = parsePico(
    (await withStoreErrors(() => spentSince(database.db, [spendId], from))).get(spendId) ?? "0",
  );
  const budget = parsePico(limits.budget_usd);
  const percent = percentOf(spent, budget);
  return { spent, budget, percent, group: PERIODS[period], resetsAt: `${to}T00:00:00.000Z` };
}

const PICO_PER_CENT = 10_000_000_000n;
const cents = (pico: Pico): number => Number(pico / PICO_PER_CENT);
/** Whole percents, at most 100; 100 only for a budget that is used up. */
const percentOf = (spent: Pico, budget: Pico): number =>
  spent >= budget ? 100 : Number((spent * 100n) / budget);

/** Claude Code's own bounds for its warnings. */
const severityOf = (percent: number): string =>
  percent > 95 ? "critical" : percent > 75 ? "warning" : "normal";
