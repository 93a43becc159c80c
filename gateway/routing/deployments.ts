import type { Choice, Target } from "../call.ts";

/** The facts that decide between deployments of the same model. */
export type DeploymentState = {
  /** When the pause of a failing target ends (monotonic milliseconds); 0 if it may be asked. */
  pausedUntil(target: Target): number;
  /** Calls that it is answering now. */
  callsInFlight(target: Target): number;
};

type CallFacts = {
  /** Calls of one session go to one deployment, so that its prompt cache is used. */
  session: string | null;
  /** Spreads the calls without a session. */
  id: string;
};

/**
 * The choice with its targets in the order in which to try them. Targets with weights share the calls by weight, a
 * provider with several credentials shares them among these, and the other targets follow in the route's order. Calls
 * of a session stay with one deployment; others go to the least busy one. Targets that are paused after failures come
 * last, soonest first: they are still tried if no other answers.
 */
export function orderedTargets(choice: Choice, call: CallFacts, state: DeploymentState): Choice {
  const { targets, channel } = choice;
  const [only] = targets;
  if (targets.length === 1 && (!only.provider.credentials || channel === "subscription")) return choice;
  const ordered = tiersOf(choice).flatMap((tier) => orderOf(tier, call, state));
  const [first, ...rest] = pausedLast(ordered, state);
  return first ? { ...choice, targets: [first, ...rest] } : choice;
}

type Deployment = { target: Target; weight: number };

/** Deployments that share calls, tier after tier. One that shares with none keeps no weight. */
function tiersOf({ targets, channel }: Choice): Deployment[][] {
  const isWeighted = targets.some(({ weight }) => weight != null);
  const sharing = isWeighted ? targets.filter(({ weight }, index) => index === 0 || weight != null) : [];
  const others = targets.filter((target) => !sharing.includes(target));
  const deployed = (target: Target) => deploymentsOf(target, channel === "subscription");
  return [sharing.flatMap(deployed), ...others.map(deployed)].filter((tier) => tier.length > 0);
}

/** A target once per credential of its provider. A caller's own credential replaces all of them. */
function deploymentsOf(target: Target, isCallers: boolean): Deployment[] {
  const { credentials } = target.provider;
  if (!credentials || isCallers) return [{ target, weight: target.weight ?? 1 }];
  const weight = (target.weight ?? 1) / credentials.length;
  return credentials.map((credential, account) => {
    const provider = { ...target.provider, credential, account };
    return { target: { ...target, provider, weight }, weight };
  });
}

function orderOf(tier: Deployment[], { session, id }: CallFacts, state: DeploymentState): Target[] {
  if (tier.length === 1) return tier.map(({ target }) => ({ ...target, weight: null }));
  const rated = tier.map(({ target, weight }) => ({
    target,
    rank: rankOf({ target, weight }, session ?? id),
    load: session === null ? state.callsInFlight(target) / weight : 0,
  }));
  return rated.sort((a, b) => a.load - b.load || b.rank - a.rank).map(({ target }) => target);
}

const HASHES = 2 ** 32;

/** Weighted rendezvous hashing: a key ranks highest at one deployment; only keys of changed deployments move. */
function rankOf({ target, weight }: Deployment, key: string): number {
  const { provider, model } = target;
  const hash = Bun.hash.xxHash32(`${key}\n${provider.name}\n${provider.account ?? 0}\n${model ?? ""}`);
  return -weight / Math.log((hash + 0.5) / HASHES);
}

function pausedLast(targets: Target[], state: DeploymentState): Target[] {
  const paused = targets
    .map((target) => ({ target, untilMs: state.pausedUntil(target) }))
    .filter(({ untilMs }) => untilMs > 0);
  if (paused.length === 0) return targets;
  const last = new Set(paused.map(({ target }) => target));
  return [
    ...targets.filter((target) => !last.has(target)),
    ...paused.sort((a, b) => a.untilMs - b.untilMs).map(({ target }) => target),
  ];
}
