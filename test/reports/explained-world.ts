import type postgres from "postgres";
import { keyId } from "./world.ts";

// A world of pull requests and sessions of every kind, and what explains each call by loops over it. Always the same.

type Call = { session: string | null; owner: string; lane: boolean; picos: bigint | null };
type Link = {
  session: string;
  of: string;
  declarer: string;
  counts: boolean;
  repository: string | null;
  branch: string | null;
};
type Context = { session: string; declarer: string; repository: string };
type Named = { repository: number; number: number; link: string; merged: boolean; sessions: string[] };
export type ExplainedWorld = { calls: Call[]; links: Link[]; contexts: Context[]; pullRequests: Named[] };

export const NOW = new Date("2026-11-21T12:00:00.000Z");
const START_MS = Date.UTC(2026, 10, 2);
const REPOSITORIES = [
  { id: 1, full_name: "Acme/app", former_names: ["acme/old-app"], covered: true },
  { id: 2, full_name: "acme/lib", former_names: [], covered: true },
  { id: 3, full_name: "acme/left", former_names: [], covered: false },
];
const LINKS = ["joined", "joined", "joined", "unknown_session", "open", "not_merged", "claimed", "conflict"];

/** A linear congruential generator: numbers from 0 to 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function explainedWorld(pullRequests: number, sessions: number): ExplainedWorld {
  const random = numbers(7);
  const below = (n: number) => Math.floor(random() * n);
  const person = (n: number) => `person-${n % 40}@acme.example`;
  const calls: Call[] = [];
  const links: Link[] = [];
  const contexts: Context[] = [];
  const named: Named[] = [];
  const ownerOf = new Map<string, string>();
  const addCalls = (session: string | null, owner: string) => {
    for (let i = 0; i <= below(8); i++) {
      const picos = random() < 0.02 ? null : BigInt(below(2 ** 31)) * 1_000n + BigInt(below(1_000));
      calls.push({ session, owner, lane: random() < 0.05, picos });
    }
  };
  for (let i = 0; i < sessions; i++) {
    const session = `s${i}`;
    ownerOf.set(session, person(below(1_000)));
    addCalls(session, ownerOf.get(session) ?? "");
  }
  for (let i = 0; i < pullRequests; i++) {
    const link = LINKS[below(LINKS.length)] ?? "open";
    // Some sessions are named by two.
    const first = `s${random() < 0.1 ? below(pullRequests) : i}`;
    const both = link === "conflict" || (link === "open" && random() < 0.2);
    const merged = !["open", "not_merged"].includes(link);
    const names = [...new Set(both ? [first, `s${below(sessions)}`, "never-called"] : [first])];
    named.push({ repository: 1 + below(2), number: i + 1, link, merged, sessions: names });
  }
  for (let i = pullRequests; i < sessions; i++) {
    const session = `s${i}`;
    const own = ownerOf.get(session) ?? "";
    const of = `s${below(pullRequests)}`;
    const theirs = ownerOf.get(of) ?? "";
    const kind = random();
    const plain = { session, of, counts: true, repository: null, branch: null };
    if (kind < 0.3) {
      // One's own task: the calls of the same person are part of it, and others' are not.
      links.push({ ...plain, declarer: theirs });
      addCalls(session, theirs);
    } else if (kind < 0.4) {
      const place = { repository: "acme/app", branch: `branch-of-${of}` };
      links.push({ ...plain, ...place, declarer: own });
      if (random() < 0.7) links.push({ ...plain, ...place, session: of, counts: false, declarer: theirs });
      // And a session of another clone, linked to this one.
      links.push({ ...plain, session: `${session}-clone`, of: session, declarer: own });
      addCalls(`${session}-clone`, own);
    } else if (kind < 0.5) {
      const repository = ["acme/left", "else/where", "acme/old-app", "acme/app"][below(4)] ?? "";
      if (random() < 0.5) contexts.push({ session, declarer: own, repository });
      else links.push({ ...plain, of: session, counts: false, repository, declarer: own });
    }
  }
  for (let i = 0; i < sessions / 10; i++) addCalls(null, person(i));
  return { calls, links: unique(links), contexts, pullRequests: named };
}

/** The table's key. */
const unique = (links: Link[]): Link[] => [
  ...new Map(links.map((it) => [`${it.session} ${it.declarer} ${it.of}`, it])).values(),
];

const PLACES = ["joined", "claimed_or_conflict", "open", "closed_unmerged", "outside_app", "no_pull_request"];
const PLACE: Readonly<Record<string, number>> = {
  ...{ joined: 0, unknown_session: 0, claimed: 1, conflict: 1, open: 2, not_merged: 3 },
};

type Known = Pick<ExplainedWorld, "calls" | "links" | "contexts" | "pullRequests">;

/** The tasks that the calls of a maker in a session count for. Who made a session's first call owns it. */
function tasksOfCalls({ calls, links, pullRequests }: Known): (session: string, maker: string) => Link[] {
  const alone = new Set(pullRequests.flatMap(({ sessions }) => (sessions.length === 1 ? sessions : [])));
  const owners = new Map<string, string>();
  for (const { session, owner } of calls)
    if (session !== null && !owners.has(session)) owners.set(session, owner);
  const bySession = Map.groupBy(links, ({ session }) => session);
  const declared = Map.groupBy(links, ({ of }) => of);
  const isAllowed = (it: Link) =>
    owners.get(it.of) === it.declarer ||
    (it.branch !== null &&
      (declared.get(it.of) ?? []).some(
        (other) =>
          other.declarer === owners.get(it.of) &&
          other.repository === it.repository &&
          other.branch === it.branch,
      ));
  return (session, maker) =>
    (bySession.get(session) ?? []).filter(
      (it) => it.declarer === maker && it.counts && it.of !== session && !alone.has(session) && isAllowed(it),
    );
}

/** The exact cost of each explanation, in 10^-12 USD, and its calls. */
export function explainedByLoops(world: ExplainedWorld) {
  const { calls, links, contexts, pullRequests } = world;
  const places = new Map<string, number>();
  for (const { sessions, link } of pullRequests) {
    for (const it of sessions) places.set(it, Math.min(places.get(it) ?? 5, PLACE[link] ?? 5));
  }
  const tasksOf = tasksOfCalls(world);
  const seenIn = Map.groupBy([...links, ...contexts], ({ session }) => session);
  const isOutside = ({ repository }: { repository: string | null }) =>
    repository !== null && !["acme/app", "acme/lib", "acme/old-app"].includes(repository);
  // A task that is itself linked brings those of the same declarer.
  const placeOf = (session: string, maker: string): number => {
    const left = (seenIn.get(session) ?? []).some((it) => it.declarer === maker && isOutside(it));
    const through = tasksOf(session, maker).map(({ of }) => placeOf(of, maker));
    return Math.min(places.get(session) ?? 5, left ? 4 : 5, ...through);
  };
  const parts = new Map<string, { picos: bigint; calls: number; uncertain: boolean }>();
  for (const { session, owner, lane, picos } of calls) {
    const name = session === null ? "no_session" : (PLACES[placeOf(session, owner)] ?? "");
    const part = parts.get(name) ?? { picos: 0n, calls: 0, uncertain: false };
    const billed = lane ? 0n : (picos ?? 0n);
    const uncertain = part.uncertain || (!lane && picos === null);
    parts.set(name, { picos: part.picos + billed, calls: part.calls + 1, uncertain });
  }
  return parts;
}

/** What each joined merge costs, in 10^-12 USD and ascending; those of which no cost is known are left out. */
export function mergeCostsByLoops(world: ExplainedWorld): bigint[] {
  const tasksOf = tasksOfCalls(world);
  const costs = new Map<string, bigint>();
  const add = (task: string, maker: string, picos: bigint) => {
    costs.set(task, (costs.get(task) ?? 0n) + picos);
    for (const { of } of tasksOf(task, maker)) add(of, maker, picos);
  };
  for (const { session, owner, lane, picos } of world.calls)
    if (session !== null && !lane && picos !== null) add(session, owner, picos);
  const joined = world.pullRequests.filter(({ link, merged }) => merged && PLACE[link] === 0);
  return joined
    .flatMap(({ sessions: [session = ""] }) => costs.get(session) ?? [])
    .sort((a, b) => (a < b ? -1 : Number(a > b)));
}

/** An amount with so many decimals. */
const usd = (amount: bigint, places = 12): string => {
  const digits = amount.toString().padStart(places + 1, "0");
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
};
export const usdNumber = (amount: bigint, places?: number): number => Number(usd(amount, places));

/** Writes the world into an organisation of its own. */
export async function seedExplained(sql: postgres.Sql, orgId: string, world: ExplainedWorld): Promise<void> {
  const put = async (table: string, rows: Record<string, unknown>[]) => {
    for (let i = 0; i < rows.length; i += 5_000) {
      const some = rows.slice(i, i + 5_000).map((row) => ({ org_id: orgId, ...row }));
      const columns = sql(Object.keys(some[0] ?? {}));
      await sql`insert into ${sql(table)} (${columns}) select ${columns}
        from jsonb_populate_recordset(null::${sql(table)}, ${sql.json(some as never)})`;
    }
  };
  const at = (n: number) => new Date(START_MS + (n % 1_600_000) * 1_000).toISOString();
  const one = {
    ...{ surface: "chat.completions", state: "ok", streamed: false, attempts: 1, route: "chat", model: "m1" },
    ...{ route_source: "model", key_id: keyId("a"), client: "cli", tags: [], usage_source: "provider" },
    partial: false,
  };
  await put(
    "requests",
    world.calls.map(({ session, owner, lane, picos }, i) => ({
      ...{ ...one, id: Bun.randomUUIDv7(), started_at: at(i * 5), session, owner },
      channel: lane ? "subscription" : "api",
      cost_usd: picos === null ? null : usd(picos),
      unpriced: picos === null,
    })),
  );
  await put(
    "session_links",
    world.links.map(({ of, ...link }) => ({
      ...{ ...link, of_session: of, key_id: keyId("a"), client: "cli", declared_at: at(0) },
    })),
  );
  const seen = { branch: "b", key_id: keyId("a"), client: "cli", declared_at: at(0) };
  await put(
    "session_contexts",
    world.contexts.map((it) => ({ ...it, ...seen, id: Bun.randomUUIDv7() })),
  );
  await put(
    "repositories",
    REPOSITORIES.map((it) => ({ ...it, changed_at: at(0) })),
  );
  await put(
    "pull_requests",
    world.pullRequests.map(({ repository, sessions, merged, link, ...it }) => ({
      ...{
        ...it,
        repository_id: repository,
        link,
        session_ids: sessions,
        session: sessions.length === 1 ? sessions[0] : null,
      },
      state: merged ? "merged" : link === "open" ? "open" : "closed",
      merged_at: merged ? at(it.number) : null,
      ...{ author_is_bot: false, body_edited: false, edited_after_merge: false },
      ...{ reverts_by_body: [], reverts_by_sha: [], evidence: [] },
    })),
  );
}
