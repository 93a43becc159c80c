import type postgres from "postgres";

/** The parts of a record that reports read. */
export type RequestFacts = {
  at: string;
  channel?: "api" | "subscription" | "batch";
  client?: string;
  model?: string | null;
  route?: string;
  key?: string;
  owner?: string | null;
  user?: string | null;
  /** The key's team, then those above it. */
  teams?: string[] | null;
  costCenter?: string | null;
  session?: string | null;
  agentSession?: string | null;
  tags?: string[];
  latencyMs?: number | null;
  ttftMs?: number | null;
  input?: number | null;
  cached?: number | null;
  output?: number | null;
  /** Exact decimal; null is unpriced unless said otherwise. */
  cost?: string | null;
  tokenCost?: string | null;
  unpriced?: boolean;
  partial?: boolean;
  provider?: string | null;
  surface?: string;
  state?: string;
  error?: string | null;
  tier?: string | null;
  reasoning?: number | null;
  written?: number | null;
  basis?: string | null;
  listCost?: string | null;
  price?: string | null;
};

export type PullRequestFacts = {
  repository: number;
  number: number;
  mergedAt: string | null;
  link: string;
  session?: string | null;
  author?: string | null;
  kind?: string | null;
  additions?: number | null;
  files?: number | null;
  headBranch?: string | null;
  headRepository?: string | null;
  sha?: string;
  revertsByBranch?: number | null;
  revertsByBody?: { repository: string | null; number: number }[];
  revertsBySha?: string[];
};

type ReviewFacts = {
  repository: number;
  number?: number;
  reviewer?: string | null;
  id: number;
  submittedAt: string;
  session?: string | null;
  dismissed?: boolean;
};

export type ContextFacts = {
  session: string;
  owner: string;
  at: string;
  branch: string;
  repository?: string;
};

export type World = {
  keys?: Record<string, string>;
  contexts?: ContextFacts[];
  requests?: RequestFacts[];
  repositories?: { id: number; fullName: string; formerNames?: string[] }[];
  pullRequests?: PullRequestFacts[];
  reviews?: ReviewFacts[];
};

/** A key's id from its letter: `keyId("a")`. */
export const keyId = (name: string): string =>
  `00000000-0000-7000-8000-${Buffer.from(name).toString("hex").padStart(12, "0").slice(-12)}`;

/** Writes a world into an organisation of its own, so that many worlds share one database. */
export async function seed(sql: postgres.Sql, orgId: string, world: World): Promise<void> {
  const put = async (table: string, rows: Record<string, unknown>[]) => {
    if (rows.length > 0)
      await sql`insert into ${sql(table)} ${sql(rows.map((row) => ({ org_id: orgId, ...row })))}`;
  };
  await put(
    "keys",
    Object.keys(world.keys ?? {}).map((name) => ({
      id: keyId(name),
      name: world.keys?.[name],
      scopes: sql.json({}),
      created_at: "2026-01-01T00:00:00Z",
    })),
  );
  await put("requests", (world.requests ?? []).map(requestRow));
  await put(
    "session_contexts",
    (world.contexts ?? []).map(({ session, owner, at, branch, repository = "acme/app" }) => ({
      ...{ session, declarer: owner, repository, branch, declared_at: at },
      ...{ key_id: keyId("a"), client: "cli" },
    })),
  );
  await put(
    "repositories",
    (world.repositories ?? []).map(({ id, fullName, formerNames = [] }) => ({
      id,
      full_name: fullName,
      former_names: sql.json(formerNames),
      changed_at: "2026-01-01T00:00:00Z",
    })),
  );
  await put(
    "pull_requests",
    (world.pullRequests ?? []).map((pr) => ({
      repository_id: pr.repository,
      number: pr.number,
      state: pr.mergedAt ? "merged" : pr.link === "not_merged" ? "closed" : "open",
      merged_at: pr.mergedAt,
      merge_commit_sha: pr.sha ?? null,
      link: pr.link,
      session_ids: pr.session ? [pr.session] : [],
      session: pr.session ?? null,
      author_login: pr.author ?? null,
      kind: pr.kind ?? null,
      additions: pr.additions ?? null,
      deletions: pr.additions == null ? null : 1,
      changed_files: pr.files ?? null,
      head_branch: pr.headBranch ?? null,
      head_repository: pr.headRepository ?? null,
      reverts_by_branch: pr.revertsByBranch ?? null,
      reverts_by_body: sql.json(pr.revertsByBody ?? []),
      reverts_by_sha: pr.revertsBySha ?? [],
      evidence: sql.json([]),
    })),
  );
  await put(
    "reviews",
    (world.reviews ?? []).map((review) => ({
      repository_id: review.repository,
      id: review.id,
      number: review.number ?? 1,
      reviewer_login: review.reviewer ?? null,
      submitted_at: review.submittedAt,
      dismissed: review.dismissed ?? false,
      session_ids: review.session ? [review.session] : [],
      session: review.session ?? null,
    })),
  );
}

function requestRow(facts: RequestFacts): Record<string, unknown> {
  const cost = facts.cost === undefined ? "0" : facts.cost;
  return {
    id: Bun.randomUUIDv7(),
    started_at: facts.at,
    surface: facts.surface ?? "chat.completions",
    channel: facts.channel ?? "api",
    state: facts.state ?? "ok",
    error_type: facts.error ?? null,
    provider: facts.provider ?? null,
    service_tier: facts.tier ?? null,
    streamed: false,
    attempts: 1,
    route: facts.route ?? "chat",
    route_source: "model",
    model: facts.model === undefined ? "m1" : facts.model,
    key_id: keyId(facts.key ?? "a"),
    owner: facts.owner ?? null,
    user_label: facts.user ?? null,
    teams: facts.teams ?? null,
    cost_center: facts.costCenter ?? null,
    session: facts.session ?? null,
    agent_session: facts.agentSession ?? null,
    client: facts.client ?? "unknown",
    tags: facts.tags ?? [],
    latency_ms: facts.latencyMs ?? null,
    ttft_ms: facts.ttftMs ?? null,
    usage_source: "provider",
    input_tokens: facts.input ?? null,
    cache_read_tokens: facts.cached ?? null,
    output_tokens: facts.output ?? null,
    cost_usd: cost,
    token_cost_usd: facts.tokenCost === undefined ? cost : facts.tokenCost,
    unpriced: facts.unpriced ?? cost === null,
    partial: facts.partial ?? false,
    reasoning_tokens: facts.reasoning ?? null,
    cache_write_5m_tokens: facts.written ?? null,
    cost_basis: facts.basis ?? null,
    list_cost_usd: facts.listCost ?? null,
    price: facts.price == null ? null : JSON.stringify(facts.price),
  };
}
