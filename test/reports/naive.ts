import { periodsOf } from "#gateway/reports/window.ts";
import type { DimensionName, Figures, MeasureName, Spec } from "#shared/report.ts";
import { keyId, type PullRequestFacts, type RequestFacts, type World } from "./world.ts";

/**
 * The report engine once more, as loops over arrays, to compare with. It shares no code with the planned SQL but the
 * periods. Money is counted in whole micro-dollars, which are exact as doubles here.
 */
export type NaiveRow = {
  groups: string[];
  current: Figures | null;
  previous: Figures | null;
  floor: boolean;
  previousFloor: boolean;
};

type Entry = { groups: string[]; facts: Item };
/** One record, or one pull request or review with one of its makers. */
type Item = {
  at: string;
  labels: (dimension: DimensionName) => string[];
  matches: (dimension: DimensionName, values: string[]) => boolean;
  request?: RequestFacts;
  outcome?: {
    pullRequest?: string;
    number: number;
    review?: string;
    session: string | null;
    person: string | null;
    reverted: boolean;
  };
};

const micros = (usd: string | null | undefined): number | null =>
  usd === null ? null : Math.round(Number(usd ?? "0") * 1e6);
const sum = (values: (number | null | undefined)[]): number =>
  values.reduce<number>((a, b) => a + (b ?? 0), 0);
const knownSum = (values: (number | null)[]): number | null =>
  values.length > 0 && values.every((value) => value === null) ? null : sum(values);
const distinct = (values: (string | null | undefined)[]): number =>
  new Set(values.filter((v) => v != null)).size;
const per = (a: number | null, b: number): number | null => (a === null || b === 0 ? null : a / b);
const usd = (value: number | null): number | null => (value === null ? null : value / 1e6);

const subject = (user: string | null | undefined, owner: string | null | undefined): string => {
  if (user && owner && user !== owner) return `${user} (${owner})`;
  return user ?? owner ?? "service account";
};

function times(at: string, dimension: DimensionName): string[] {
  const day = new Date(at).toISOString().slice(0, 10);
  if (dimension === "day") return [day];
  if (dimension === "month") return [day.slice(0, 7)];
  if (dimension === "quarter") return [`${day.slice(0, 4)}-Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`];
  if (dimension === "hour_of_day") return [new Date(at).toISOString().slice(11, 13)];
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return [date.toISOString().slice(0, 10)];
}

const LINKS: Readonly<Record<string, string>> = {
  joined: "joined",
  unknown_session: "joined",
  claimed: "claimed_or_conflict",
  conflict: "claimed_or_conflict",
  open: "open",
  not_merged: "closed_unmerged",
};

/** The first of the explanations that the pull requests of a session give. */
function explanation(session: string | null, { pullRequests = [] }: World): string {
  if (session === null) return "no_session";
  const found = pullRequests
    .filter((pr) => pr.session === session && (LINKS[pr.link] !== "joined" || pr.mergedAt !== null))
    .map((pr) => LINKS[pr.link]);
  return Object.values(LINKS).find((name) => found.includes(name)) ?? "no_pull_request";
}

function requestItem(request: RequestFacts, world: World): Item {
  const key = world.keys?.[request.key ?? "a"] ?? keyId(request.key ?? "a");
  const tags = request.tags?.length ? request.tags : ["(none)"];
  const whole = subject(request.user, request.owner);
  const labels = (dimension: DimensionName): string[] => {
    switch (dimension) {
      case "client":
        return [request.client ?? "unknown"];
      case "model":
        return [(request.model === undefined ? "m1" : request.model) ?? "(none)"];
      case "route":
        return [request.route ?? "chat"];
      case "channel":
        return [request.channel ?? "api"];
      case "session":
        return [request.session ?? "(none)"];
      case "tag":
        return tags;
      case "key":
        return [key];
      case "team":
        return [request.teams?.[0] ?? "(none)"];
      case "cost_center":
        return [request.costCenter ?? "(none)"];
      case "subject":
        return [whole];
      case "provider":
        return [request.provider ?? "(none)"];
      case "surface":
        return [request.surface ?? "chat.completions"];
      case "error":
        return [errorOf(request) ?? "(none)"];
      case "tier":
        return [request.tier ?? "(none)"];
      case "explanation":
        return [explanation(request.session ?? null, world)];
      default:
        return times(request.at, dimension);
    }
  };
  const texts = (dimension: DimensionName) => {
    if (dimension === "subject") return [whole, request.user, request.owner];
    return dimension === "team" ? (request.teams ?? ["(none)"]) : labels(dimension);
  };
  return {
    at: request.at,
    labels,
    matches: (dimension, values) => texts(dimension).some((text) => text != null && values.includes(text)),
    request,
  };
}

const errorOf = ({ state = "ok", error }: RequestFacts): string | null =>
  state === "ok" || state === "client_gone" ? null : (error ?? state);

/** What the public list would have charged, in micro-dollars. */
function listOf({ basis, listCost, cost }: RequestFacts): number | null {
  const own = basis === "contract" || basis === "vendor" || basis === "batch";
  return micros(listCost ?? (own ? null : cost));
}

/** What caching saved, in millionths of a micro-dollar, by the rows of the price. */
function cachingOf({ cached, written, price }: RequestFacts): number | null {
  if ((cached ?? 0) + (written ?? 0) === 0) return 0;
  const rows = (price ?? "").split("|").map((line) => line.split(" "));
  const [input, ...others] = rows.filter(([unit]) => unit === "input");
  if (!input || others.length > 0) return null;
  const picos = (text = "0") => Math.round(Number(text) * 1e12);
  return sum(
    rows
      .filter(([unit = ""]) => unit.startsWith("cache_"))
      .map(([, count, usdPerUnit]) => Number(count) * (picos(input[2]) - picos(usdPerUnit))),
  );
}

/** Later merges decide first whether they stand. */
function revertedOf(pullRequests: PullRequestFacts[]): Set<PullRequestFacts> {
  const merged = pullRequests.filter((pr) => pr.mergedAt).sort((a, b) => order(b, a));
  const reverted = new Set<PullRequestFacts>();
  for (const pr of merged) {
    const known = (test: (other: PullRequestFacts) => boolean) =>
      merged.filter((other) => other.repository === pr.repository && order(other, pr) < 0 && test(other));
    const evidence = [
      known((other) =>
        (pr.revertsByBody ?? []).some((told) => told.number === other.number && !told.repository),
      ),
      known((other) => other.number === pr.revertsByBranch),
      known((other) => other.sha !== undefined && (pr.revertsBySha ?? []).includes(other.sha)),
    ];
    if (!reverted.has(pr))
      for (const target of evidence.find((targets) => targets.length > 0) ?? []) reverted.add(target);
  }
  return reverted;
}

const order = (a: PullRequestFacts, b: PullRequestFacts): number =>
  Date.parse(a.mergedAt ?? "") - Date.parse(b.mergedAt ?? "") || a.number - b.number;

/** One of the calls in a team whose like (same team, same cost centre) cost most; nothing known is less than 0. */
function dearestTeam(made: RequestFacts[]): RequestFacts | undefined {
  const like = ({ teams, costCenter }: RequestFacts) => JSON.stringify([teams, costCenter ?? null]);
  const costOf = (text: string) => {
    const billed = made.filter((it) => like(it) === text && it.channel !== "subscription");
    return billed.length === 0 ? -1 : (knownSum(billed.map((it) => micros(it.cost))) ?? -1);
  };
  const before = (a: RequestFacts, b: RequestFacts) => {
    const order = (x: string, y: string) => (x < y ? -1 : Number(x > y));
    return (
      costOf(like(b)) - costOf(like(a)) ||
      order((a.teams ?? []).join("\0"), (b.teams ?? []).join("\0")) ||
      order(a.costCenter ?? "~", b.costCenter ?? "~")
    );
  };
  return made.filter(({ teams }) => teams).sort(before)[0];
}

function outcomeItems(world: World): Item[] {
  const reverted = revertedOf(world.pullRequests ?? []);
  const merges = (world.pullRequests ?? []).flatMap((pr) => {
    const session = ["joined", "unknown_session"].includes(pr.link) ? (pr.session ?? null) : null;
    const pullRequest = `${pr.repository}#${pr.number}`;
    return pr.mergedAt
      ? [
          {
            ...{ at: pr.mergedAt, repository: pr.repository, number: pr.number, session, pullRequest },
            reverted: reverted.has(pr),
          },
        ]
      : [];
  });
  const reviews = (world.reviews ?? []).flatMap((it) =>
    it.session
      ? [
          {
            at: it.submittedAt,
            repository: it.repository,
            number: it.number ?? 1,
            session: it.session,
            review: `${it.repository}!${it.id}`,
            reverted: false,
          },
        ]
      : [],
  );
  return [...merges, ...reviews].flatMap((told) => {
    const made = (world.requests ?? []).filter(
      (request) => request.session && request.session === told.session,
    );
    const dearest = dearestTeam(made);
    const makers = made.length > 0 ? made.map((request) => requestItem(request, world)) : [undefined];
    return makers.map((maker): Item => {
      const labels = (dimension: DimensionName): string[] => {
        const repository =
          world.repositories?.find(({ id }) => id === told.repository)?.fullName ?? String(told.repository);
        if (dimension === "repository") return [repository];
        if (dimension === "pull_request") return [`${repository}#${told.number}`];
        const pr = world.pullRequests?.find(
          (it) => it.repository === told.repository && it.number === told.number,
        );
        if (dimension === "author") return [pr?.author ?? "(none)"];
        if (dimension === "pr_kind") return [pr?.kind ?? "change"];
        if (dimension === "pr_lines") return [linesClass(pr?.additions)];
        if (dimension === "pr_files") return [filesClass(pr?.files)];
        if (dimension === "session") return [told.session ?? "(none)"];
        if (dimension === "team") return [dearest?.teams?.[0] ?? "(none)"];
        if (dimension === "cost_center") return [dearest?.costCenter ?? "(none)"];
        if (dimension === "subject" || dimension === "key") return maker?.labels(dimension) ?? ["(none)"];
        return times(told.at, dimension);
      };
      return {
        at: told.at,
        labels,
        matches: (dimension, values) =>
          dimension === "subject" && maker
            ? maker.matches(dimension, values)
            : (dimension === "team" ? (dearest?.teams ?? ["(none)"]) : labels(dimension)).some((text) =>
                values.includes(text),
              ),
        outcome: {
          ...told,
          session: maker ? told.session : null,
          person: maker ? (maker.request?.user ?? maker.request?.owner ?? null) : null,
        },
      };
    });
  });
}

const linesClass = (additions: number | null | undefined): string => {
  if (additions == null) return "(none)";
  const lines = additions + 1;
  if (lines <= 10) return "0000 to 10";
  if (lines <= 50) return "0011 to 50";
  if (lines <= 200) return "0051 to 200";
  return lines <= 1000 ? "0201 to 1000" : "over 1000";
};
const filesClass = (files: number | null | undefined): string => {
  if (files == null) return "(none)";
  if (files <= 1) return "00 to 1";
  return files <= 5 ? "02 to 5" : files <= 20 ? "06 to 20" : "over 20";
};

/** When someone else than the author of one of its merges first reviewed that merge. */
function firstReview(session: string, { pullRequests = [], reviews = [] }: World): number {
  const of = pullRequests.filter(
    (pr) => pr.session === session && pr.mergedAt && ["joined", "unknown_session"].includes(pr.link),
  );
  const others = of.flatMap((pr) =>
    reviews.filter(
      (it) =>
        it.repository === pr.repository &&
        (it.number ?? 1) === pr.number &&
        (it.reviewer ?? "").toLowerCase() !== (pr.author ?? " ").toLowerCase(),
    ),
  );
  return Math.min(...others.map(({ submittedAt }) => Date.parse(submittedAt)));
}

function requestFigures(items: Item[], spec: Spec): { figures: Figures; floor: boolean } {
  const all = items.flatMap(({ request }) => (request ? [request] : []));
  const lane = new Set(spec.filters.channel).size === 1 && spec.filters.channel?.[0] === "subscription";
  const billed = lane ? all : all.filter(({ channel }) => channel !== "subscription");
  const person = ({ user, owner }: RequestFacts) => user ?? owner;
  const hours = (rows: RequestFacts[]) =>
    distinct(
      rows.map(({ session, at }) => session && `${session} ${new Date(at).toISOString().slice(0, 13)}`),
    );
  const costs = billed.map(({ cost }) => micros(cost));
  const cost = all.length === 0 ? 0 : billed.length === 0 ? null : knownSum(costs);
  const tokenCosts = billed.map(({ cost: whole, tokenCost }) =>
    micros(tokenCost === undefined ? whole : tokenCost),
  );
  const tokenCost = all.length === 0 ? 0 : billed.length === 0 ? null : knownSum(tokenCosts);
  const inSession = billed.filter(({ session }) => session);
  const sessionCosts = inSession.map((it) => micros(it.cost));
  const sessionCost = inSession.length === 0 ? null : knownSum(sessionCosts);
  const tokens = (rows: RequestFacts[]) => sum(rows.map(({ input, output }) => (input ?? 0) + (output ?? 0)));
  const latencies = all
    .flatMap(({ latencyMs }) => (latencyMs == null ? [] : [latencyMs]))
    .sort((a, b) => a - b);
  const ttfts = all.flatMap(({ ttftMs }) => (ttftMs == null ? [] : [ttftMs]));
  const users = distinct(all.map(person));
  const money = (values: (number | null)[]) =>
    all.length === 0 ? 0 : values.length === 0 ? null : knownSum(values);
  const someOf = (values: (number | null | undefined)[]) =>
    values.every((value) => value == null) ? null : sum(values);
  const saved = billed.map((it) => {
    const list = listOf(it);
    return list === null || it.cost == null ? null : list - (micros(it.cost) ?? 0);
  });
  const caching = money(billed.map(cachingOf));
  const extra = {
    reasoning_tokens: someOf(all.map((it) => it.reasoning)),
    cache_write_tokens: someOf(all.map((it) => it.written)),
    error_rate: per(all.filter((it) => errorOf(it) !== null).length, all.length),
    latency_p50_ms: quantile(latencies, 0.5),
    ttft_p95_ms: quantile(
      [...ttfts].sort((a, b) => a - b),
      0.95,
    ),
    list_cost_usd: usd(money(billed.map(listOf))),
    savings_usd: usd(money(saved)),
    savings_cache_usd: caching === null ? null : caching / 1e12,
    // No world has a bill, a commitment or a budget.
    billed_cost_usd: usd(money(billed.map(() => null))),
    effective_cost_usd: usd(money(costs)),
    budget_usd: null,
    budget_used: null,
  };
  const unsure = (it: RequestFacts, i: number): boolean =>
    (spec.measures.includes("list_cost_usd") && listOf(it) === null) ||
    spec.measures.includes("billed_cost_usd") ||
    (spec.measures.includes("savings_usd") && saved[i] === null) ||
    (spec.measures.includes("savings_cache_usd") && cachingOf(it) === null);
  const figures = {
    ...extra,
    requests: all.length,
    input_tokens: sum(all.map(({ input }) => input)),
    output_tokens: sum(all.map(({ output }) => output)),
    total_tokens: tokens(all),
    cached_tokens: sum(all.map(({ cached }) => cached)),
    cost_usd: usd(cost),
    unpriced_requests: billed.filter((it) => it.unpriced ?? it.cost === null).length,
    users,
    sessions: distinct(all.map(({ session }) => session)),
    active_hours: hours(all),
    latency_avg_ms: per(sum(latencies), latencies.length),
    latency_p95_ms: quantile(latencies, 0.95),
    ttft_avg_ms: per(sum(ttfts), ttfts.length),
    cost_per_user: per(usd(cost), distinct(billed.map(person))),
    requests_per_user: per(all.length, users),
    cost_per_1k_requests: per(usd(cost === null ? null : cost * 1000), billed.length),
    tokens_per_request: per(tokens(all), all.length),
    cost_per_1m_tokens: per(tokenCost, tokens(billed)),
    cost_per_1k_sessions: per(
      usd(sessionCost === null ? null : sessionCost * 1000),
      distinct(inSession.map((it) => it.session)),
    ),
    cost_per_active_hour: per(usd(sessionCost), hours(billed)),
    cache_hit_rate: per(sum(all.map(({ cached }) => cached)), sum(all.map(({ input }) => input))),
  };
  return {
    figures,
    floor: billed.some((it, i) => it.cost === null || it.partial || it.unpriced || unsure(it, i)),
  };
}

function quantile(sorted: number[], fraction: number): number | null {
  if (sorted.length === 0) return null;
  const place = fraction * (sorted.length - 1);
  const low = sorted[Math.floor(place)] ?? 0;
  const high = sorted[Math.ceil(place)] ?? 0;
  return low + (high - low) * (place - Math.floor(place));
}

function outcomeFigures(items: Item[], world: World): { figures: Figures; floor: boolean } {
  const told = items.flatMap(({ outcome }) => (outcome ? [outcome] : []));
  const merges = told.filter(({ pullRequest }) => pullRequest);
  const joined = merges.filter(({ session }) => session);
  const runs = [...new Set(joined.map(({ session }) => session))];
  const paid = (session: string | null) =>
    (world.requests ?? []).filter((it) => it.session === session && it.channel !== "subscription");
  const costOf = (session: string | null) => {
    const rows = paid(session);
    return rows.length === 0 ? null : knownSum(rows.map((it) => micros(it.cost)));
  };
  const costs = runs.map(costOf);
  const once = new Map(joined.map((it) => [it.pullRequest, costOf(it.session)]));
  const ranked = [...once.values()].filter((it) => it !== null).sort((a, b) => a - b);
  const n = ranked.length;
  const edge = Math.floor((n - 1.96 * Math.sqrt(n)) / 2);
  const half = n === 0 ? null : ((ranked[Math.ceil(n / 2) - 1] ?? 0) + (ranked[Math.floor(n / 2)] ?? 0)) / 2;
  const undone = runs.filter((run) => joined.some((it) => it.session === run && it.reverted)).map(costOf);
  const fixes = runs.map((run) => {
    const at = firstReview(run ?? "", world);
    return knownSum(paid(run).map((it) => (Date.parse(it.at) >= at ? micros(it.cost) : null)));
  });
  const cost = merges.length === 0 ? 0 : costs.length === 0 ? null : knownSum(costs);
  const merged = distinct(merges.map(({ pullRequest }) => pullRequest));
  const reverted = distinct(merges.filter((it) => it.reverted).map(({ pullRequest }) => pullRequest));
  const uncertain = (session: string | null) =>
    session === null ||
    costOf(session) === null ||
    paid(session).some((it) => it.cost === null || it.partial || it.unpriced);
  return {
    figures: {
      merged_prs: merged,
      reverted_prs: reverted,
      revert_rate: per(reverted, merged),
      reviews: distinct(told.map(({ review }) => review)),
      joined_prs: distinct(joined.map(({ pullRequest }) => pullRequest)),
      cost_per_merged_pr: per(usd(cost), merged),
      cost_usd: usd(cost),
      users: distinct(merges.map(({ person }) => person)),
      sessions: runs.length,
      costed_prs: n,
      median_cost_per_pr: usd(half),
      p90_cost_per_pr: usd(ranked[Math.ceil((n * 9) / 10) - 1] ?? null),
      median_low_usd: usd(ranked[edge - 1] ?? null),
      median_high_usd: usd(edge < 1 ? null : (ranked[n - edge] ?? null)),
      reverted_cost_usd: usd(runs.length === 0 ? null : undone.length === 0 ? 0 : knownSum(undone)),
      review_fix_cost_usd: usd(runs.length === 0 ? null : sum(fixes)),
    },
    floor: merges.some(({ session }) => uncertain(session)),
  };
}

const isMoney = (name: MeasureName) => name !== "costed_prs" && /cost|_usd$|^budget_used$/.test(name);

/** Rows by their groups, the total under no groups. */
export function naiveReport(world: World, spec: Spec, now: Date): { rows: NaiveRow[]; total: NaiveRow } {
  const items =
    spec.source === "outcomes"
      ? outcomeItems(world)
      : (world.requests ?? []).map((request) => requestItem(request, world));
  const filters = Object.entries(spec.filters) as [DimensionName, string[]][];
  const passing = items.filter((item) =>
    filters.every(([dimension, values]) => values.length === 0 || item.matches(dimension, values)),
  );
  const periods = periodsOf(spec.range, spec.compare, { now });
  const within = (side: "current" | "previous") => {
    const period = periods[side];
    return passing.filter(({ at }) => {
      const ms = Date.parse(at);
      return period !== null && ms < period.toMs && (period.fromMs === null || ms >= period.fromMs);
    });
  };
  const sides = { current: within("current"), previous: within("previous") };
  const figuresOf = (chosen: Item[]) =>
    spec.source === "outcomes" ? outcomeFigures(chosen, world) : requestFigures(chosen, spec);
  const totals = { current: figuresOf(sides.current), previous: figuresOf(sides.previous) };
  const cut = (side: "current" | "previous", chosen: Item[]) => {
    const { figures, floor } = figuresOf(chosen);
    const shared: Figures = {
      ...figures,
      cost_share: per(figures.cost_usd ?? null, totals[side].figures.cost_usd ?? 0),
      request_share: per(figures.requests ?? null, totals[side].figures.requests ?? 0),
    };
    const asked = Object.fromEntries(spec.measures.map((name) => [name, shared[name] ?? null]));
    return { figures: asked as Figures, floor: floor && spec.measures.some(isMoney) };
  };
  const row = (groups: string[], current: Item[] | null, previous: Item[] | null): NaiveRow => {
    const now_ = current && cut("current", current);
    const before = previous && cut("previous", previous);
    return {
      groups,
      current: now_?.figures ?? null,
      previous: before?.figures ?? null,
      floor: now_?.floor ?? false,
      previousFloor: before?.floor ?? false,
    };
  };
  const total = row([], sides.current, periods.previous ? sides.previous : null);
  if (spec.dimensions.length === 0) return { rows: [], total };
  const grouped = { current: byGroups(sides.current, spec), previous: byGroups(sides.previous, spec) };
  const names = new Map(
    [...grouped.current, ...grouped.previous].map(([name, [first]]) => [name, first?.groups ?? []]),
  );
  const itemsOf = (side: "current" | "previous", name: string) =>
    grouped[side].get(name)?.map(({ facts }) => facts) ?? null;
  const rows = [...names].map(([name, groups]) =>
    row(groups, itemsOf("current", name), itemsOf("previous", name)),
  );
  return { rows, total };
}

function byGroups(items: Item[], spec: Spec): Map<string, Entry[]> {
  const entries = items.flatMap((facts): Entry[] => {
    // A dimension that is named twice has the same label in both places.
    let chosen: ReadonlyMap<string, string>[] = [new Map()];
    for (const name of new Set(spec.dimensions)) {
      chosen = chosen.flatMap((one) => facts.labels(name).map((label) => new Map([...one, [name, label]])));
    }
    return chosen.map((one) => ({ groups: spec.dimensions.map((name) => one.get(name) ?? ""), facts }));
  });
  return Map.groupBy(entries, ({ groups }) => JSON.stringify(groups));
}
