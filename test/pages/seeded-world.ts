import type postgres from "postgres";
import { addMonth, monthOf } from "#drizzle/partitions.ts";
import { priceText } from "#drizzle/price-text.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

// A world to look at, the same at each run but for its size and its last moment.

const DAY_MS = 86_400_000;

type WorldSize = { people: number; days: number };

/** Twelve teams below three departments, each with a cost centre, a repository and a monthly budget in USD (null: none). */
const TEAMS = [
  ["payments", "commerce", "checkout", "260"],
  ["platform", "engineering", "runtime", "240"],
  ["search", "product", "search", null],
  ["mobile", "product", "mobile-app", null],
  ["data", "engineering", "warehouse", "900"],
  ["identity", "engineering", "accounts", null],
  ["growth", "commerce", "website", "255"],
  ["risk", "commerce", "risk-engine", "450"],
  ["support", "product", "helpdesk", "600"],
  ["infra", "engineering", "clusters", "340"],
  ["security", "engineering", "scanner", null],
  ["design", "product", "components", null],
] as const;

const DEPARTMENTS = [
  ["engineering", "CC-100"],
  ["commerce", "CC-200"],
  ["product", "CC-300"],
] as const;

const costCenterOf = (department: string): string | null =>
  DEPARTMENTS.find(([name]) => name === department)?.[1] ?? null;

/** USD per million tokens, as its list has it: input, cached input, output. */
const MODELS = [
  { name: "claude-opus-4-6", provider: "anthropic", prices: ["5", "0.5", "25"], share: 0.3 },
  { name: "claude-sonnet-4-6", provider: "anthropic", prices: ["3", "0.3", "15"], share: 0.31 },
  { name: "gpt-5.2", provider: "openai", prices: ["1.75", "0.175", "14"], share: 0.2 },
  { name: "gemini-3-pro", provider: "google", prices: ["2", "0.2", "12"], share: 0.1 },
  { name: "claude-haiku-4-5", provider: "anthropic", prices: ["1", "0.1", "5"], share: 0.06 },
  { name: "gpt-5-mini", provider: "openai", prices: ["0.25", "0.025", "2"], share: 0.025 },
  { name: "kimi-k2-preview", provider: "moonshot", prices: null, share: 0.005 },
] as const;
type Model = (typeof MODELS)[number];
const SMALL = MODELS[4];

const CLIENTS = ["claude-code", "codex", "opencode", "cursor", "sdk-python"] as const;
const TASKS = ["feature", "feature", "fix", "refactor", "tests"] as const;
const ROUTES = ["code", "code", "code", "review", "chat", "docs"] as const;

/** mulberry32: a small generator whose numbers are the same on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

type Random = ReturnType<typeof randomFrom>;
type Row = Record<string, unknown>;
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

const idAt = (ms: number, n: number): string => {
  const time = Math.floor(ms).toString(16).padStart(12, "0");
  const tail = n.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${tail}`;
};

const keyIdOf = (person: number): string => idAt(Date.UTC(2026, 0, 1), person + 1);
const emailOf = (person: number): string => `dev-${person + 1}@example.com`;
const teamOf = (person: number) => TEAMS[person % TEAMS.length]!;

function modelFor(random: Random): Model {
  let left = random();
  for (const model of MODELS) {
    left -= model.share;
    if (left <= 0) return model;
  }
  return MODELS[0];
}

/** Exact: tokens are whole, and prices have at most three decimals per million. */
function costOf(model: Model, counts: readonly [number, number, number]) {
  if (!model.prices) return null;
  const rows = (["input", "cache_read", "output"] as const).map((unit, i) => ({
    unit,
    count: counts[i]!,
    usdPerUnit: (Number(model.prices[i]) / 1e6).toFixed(12).replace(/0+$/, ""),
  }));
  const nanos = rows.reduce(
    (sum, { count }, i) => sum + count * Math.round(Number(model.prices[i]) * 1000),
    0,
  );
  return {
    usd: (nanos / 1e9).toFixed(9),
    price: priceText({ entry: `list:${model.provider}/${model.name}`, rows }),
  };
}

type Session = { id: string; person: number; atMs: number; calls: number };

function sessionsOf(random: Random, { people, days }: WorldSize, nowMs: number): Session[] {
  const sessions: Session[] = [];
  const firstMs = Math.floor(nowMs / DAY_MS) * DAY_MS - (days - 1) * DAY_MS;
  for (let day = 0; day < days; day++) {
    const dayMs = firstMs + day * DAY_MS;
    const isWeekend = [0, 6].includes(new Date(dayMs).getUTCDay());
    // Use grows over the quarter.
    const active = Math.round(people * (0.1 + (0.14 * day) / days) * (isWeekend ? 0.15 : 1));
    for (let n = 0; n < active; n++) {
      const person = Math.floor(random() ** 1.5 * people);
      const atMs = dayMs + (7 + random() * 10) * 3_600_000;
      const calls = 2 + Math.floor(random() ** 3 * 12);
      if (atMs < nowMs - 3_600_000) sessions.push({ id: idAt(atMs, n), person, atMs, calls });
    }
  }
  // The last minutes, so that a live list has something to show.
  for (let n = 0; n < 12; n++) {
    sessions.push({
      id: idAt(nowMs - n, n),
      person: (n * 3) % people,
      atMs: nowMs - (12 - n) * 90_000,
      calls: 1,
    });
  }
  return sessions;
}

function callsOf(random: Random, session: Session, firstNumber: number): Row[] {
  const client = pick(random, CLIENTS);
  const main = modelFor(random);
  const [team, department] = teamOf(session.person);
  return Array.from({ length: session.calls }, (_, i) => {
    const atMs = session.atMs + i * 47_000;
    // Agents do small steps with a small model.
    const model = random() < 0.15 ? SMALL : main;
    const input = 40_000 + Math.floor(random() * 900_000);
    const cached = Math.floor(input * (0.4 + random() * 0.5));
    const output = 1500 + Math.floor(random() * 20_000);
    const cost = costOf(model, [input - cached, cached, output]);
    const fails = random() < 0.012;
    const latency = 900 + Math.floor(output * (4 + random() * 5));
    return {
      org_id: DEFAULT_ORG,
      id: idAt(atMs, firstNumber + i),
      started_at: new Date(atMs).toISOString(),
      surface: client === "claude-code" ? "messages" : "chat.completions",
      channel: "api",
      state: fails ? "upstream_error" : "ok",
      status: fails ? 529 : 200,
      error_type: fails ? "overloaded" : null,
      streamed: true,
      attempts: 1,
      route: pick(random, ROUTES),
      route_source: "model",
      provider: model.provider,
      model: model.name,
      response_model: fails ? null : model.name,
      provider_request_id: fails ? null : `req_${(firstNumber + i).toString(36)}`,
      key_id: keyIdOf(session.person),
      owner: emailOf(session.person),
      session: session.id,
      client,
      teams: [team, department],
      cost_center: costCenterOf(department),
      tags: [pick(random, TASKS)],
      latency_ms: latency,
      ttft_ms: fails ? null : 400 + Math.floor(random() * 900),
      usage_source: fails ? "none" : "provider",
      input_tokens: fails ? null : input,
      uncached_input_tokens: fails ? null : input - cached,
      cache_read_tokens: fails ? null : cached,
      output_tokens: fails ? null : output,
      cost_usd: fails ? "0" : (cost?.usd ?? null),
      token_cost_usd: fails ? "0" : (cost?.usd ?? null),
      unpriced: !fails && cost === null,
      partial: false,
      price: fails || !cost ? null : cost.price,
    };
  });
}

function pullRequestsOf(random: Random, sessions: readonly Session[]): Row[] {
  const numbers = new Map<number, number>();
  return sessions
    .filter((_, i) => i % 3 === 0)
    .map((session, i) => {
      const repository = session.person % TEAMS.length;
      const number = (numbers.get(repository) ?? 100) + 1;
      numbers.set(repository, number);
      const mergedMs = session.atMs + (1 + random() * 20) * 3_600_000;
      const isMerged = random() < 0.93 && mergedMs < Date.now();
      // Some are, whatever the day that the world ends on.
      const unstamped = random() < (TEAMS[repository]![0] === "mobile" ? 0.4 : 0.03) || i % 12 === 5;
      const link = !isMerged ? "open" : unstamped ? "no_stamp" : "joined";
      return {
        org_id: DEFAULT_ORG,
        repository_id: 1000 + repository,
        number,
        state: isMerged ? "merged" : "open",
        author_login: `dev-${session.person + 1}`,
        author_association: "MEMBER",
        from_fork: false,
        opened_at: new Date(session.atMs - 3_600_000).toISOString(),
        merged_at: isMerged ? new Date(mergedMs).toISOString() : null,
        merge_commit_sha: isMerged ? `${number}`.padStart(40, "0") : null,
        link,
        session_ids: unstamped ? [] : [session.id],
        session: unstamped ? null : session.id,
        reverts_by_branch: random() < 0.015 && number > 110 ? number - 5 : null,
        reverts_by_body: [],
        reverts_by_sha: [],
        evidence: [],
      };
    });
}

const TOOLS = [
  ["github", "create_pull_request"],
  ["github", "search_code"],
  ["postgres", "query"],
  [null, "Bash"],
  [null, "Edit"],
  ["jira", "get_issue"],
] as const;

function toolCallsOf(random: Random, sessions: readonly Session[]): Row[] {
  return sessions
    .filter((_, i) => i % 2 === 0)
    .map((session, n) => {
      const [server, tool] = pick(random, TOOLS);
      const id = idAt(session.atMs, n);
      const chance = random();
      const at = new Date(session.atMs + 20_000).toISOString();
      return {
        org_id: DEFAULT_ORG,
        origin: emailOf(session.person),
        external_id: id,
        id,
        started_at: at,
        channel: server ? "mcp" : "hook",
        status: chance < 0.92 ? "ok" : chance < 0.97 ? "failed" : "denied",
        rank: 3,
        decided_at: at,
        key_id: keyIdOf(session.person),
        owner: emailOf(session.person),
        client: "claude-code",
        session: session.id,
        teams: [...teamOf(session.person).slice(0, 2)],
        tags: [],
        server,
        tool,
        latency_ms: 40 + Math.floor(random() * 2000),
        cost_usd: null,
        error_code: chance >= 0.92 && chance < 0.97 ? "-32602" : null,
      };
    });
}

/** Names that would be markup, would turn text, would run in a spreadsheet, or are very long. */
export const HOSTILE = {
  model: '<img src=x onerror="document.title=1">',
  client: "\u202eevil\u202c",
  session: "=cmd|' /C calc'!A0",
  tag: "z".repeat(10_000),
} as const;

function hostileCalls(nowMs: number, number: number): Row[] {
  const session = { id: HOSTILE.session, person: 1, atMs: nowMs - 30_000, calls: 1 };
  return callsOf(randomFrom(1), session, number).map((call) => ({
    ...call,
    model: HOSTILE.model,
    client: HOSTILE.client,
    tags: [HOSTILE.tag],
  }));
}

const CHUNK = 500;

async function put(sql: postgres.Sql, table: string, rows: readonly Row[]): Promise<void> {
  for (let at = 0; at < rows.length; at += CHUNK) {
    // Members in JSON: arrays and absent values need no types of their own.
    const chunk = JSON.stringify(rows.slice(at, at + CHUNK));
    const columns = Object.keys(rows[0]!);
    await sql`insert into ${sql(table)} (${sql(columns)})
      select ${sql(columns)} from jsonb_populate_recordset(null::${sql(table)}, ${chunk}::text::jsonb)`;
  }
}

/** Who exists: departments, teams, people, their keys, and repositories. */
async function putOrganisation(
  sql: postgres.Sql,
  { people: count }: WorldSize,
  created: string,
): Promise<void> {
  const people = Array.from({ length: count }, (_, person) => person);
  const dates = { created_at: created, updated_at: created };
  const departments = DEPARTMENTS.map(([name, center]) => ({
    org_id: DEFAULT_ORG,
    name,
    parent: null as string | null,
    cost_center: center as string | null,
    budget_usd: null as string | null,
    budget_period: null as string | null,
    ...dates,
  }));
  const teams = TEAMS.map(([name, parent, , budget]) => ({
    org_id: DEFAULT_ORG,
    name,
    parent,
    cost_center: null,
    budget_usd: budget,
    budget_period: budget && "month",
    ...dates,
  }));
  await put(sql, "teams", [...departments, ...teams]);
  await put(
    sql,
    "people",
    people.map((person) => ({
      org_id: DEFAULT_ORG,
      id: idAt(Date.UTC(2026, 0, 2), person + 1),
      email: emailOf(person),
      email_verified: true,
      name: `Developer ${person + 1}`,
      github_login: `dev-${person + 1}`,
      role: person % 17 === 0 ? "manager" : "member",
      team: teamOf(person)[0],
      disabled: false,
      ...dates,
    })),
  );
  await put(
    sql,
    "keys",
    people.map((person) => ({
      org_id: DEFAULT_ORG,
      id: keyIdOf(person),
      name: `dev-${person + 1}`,
      owner: emailOf(person),
      team: null,
      scopes: {},
      limits: person % 20 === 0 ? { budget_usd: "120.00", budget_period: "month" } : null,
      created_at: created,
    })),
  );
  await put(
    sql,
    "repositories",
    TEAMS.map(([, , name], i) => ({
      org_id: DEFAULT_ORG,
      id: 1000 + i,
      full_name: `acme/${name}`,
      former_names: [],
      covered: true,
      is_private: true,
      changed_at: created,
    })),
  );
}

type WorldOptions = WorldSize & {
  /** Adds a session whose names attack pages, tables and spreadsheets. */
  hostile?: boolean;
};

/** Fills an empty installation, as of now. */
export async function seedWorld(
  sql: postgres.Sql,
  { hostile = false, ...size }: WorldOptions,
  nowMs = Date.now(),
): Promise<void> {
  const random = randomFrom(20261124);
  for (let ms = nowMs - (size.days + 31) * DAY_MS; ms <= nowMs + DAY_MS; ms += 14 * DAY_MS) {
    await sql.begin((tx) => addMonth(tx, monthOf(new Date(ms))));
  }
  await putOrganisation(sql, size, new Date(nowMs - 200 * DAY_MS).toISOString());
  const sessions = sessionsOf(random, size, nowMs);
  let calls = 0;
  const rows = sessions.flatMap((session) => {
    const made = callsOf(random, session, calls);
    calls += made.length;
    return made;
  });
  await put(sql, "requests", hostile ? [...rows, ...hostileCalls(nowMs, calls)] : rows);
  await put(sql, "pull_requests", pullRequestsOf(random, sessions));
  await put(sql, "tool_calls", toolCallsOf(random, sessions));
}
