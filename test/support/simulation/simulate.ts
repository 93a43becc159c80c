import { parsePico } from "#gateway/limits/money.ts";
import { simulatedDatabase } from "./database.ts";
import { Killed } from "./disk.ts";
import { BUDGET, type Fate, type SimulatedGateway, type Spool, simulatedGateway } from "./gateway.ts";
import { type Random, random } from "./random.ts";

const STEPS = 120;
const BEAT_MS = 5000;
/** A cent. */
const UNIT = 10n ** 10n;

export type Outcome = {
  answered: number;
  opened: number;
  deaths: number;
  /** Calls that were admitted without the database. */
  alone: number;
  /** What broke a promise; empty if none was. */
  faults: string[];
};

/**
 * Runs two gateways on one spool and one database through a course of events that follows from the seed: calls, lost
 * messages, outages of the database, deaths at any write, jumps of time. At the end everything heals, and the promises are checked.
 */
export function simulate(seed: number): Outcome {
  const chances = random(seed);
  const world = newWorld(chances);
  for (let step = 0; step < STEPS; step++) world.step();
  world.heal();
  return world.outcome();
}

function fateBy({ chance }: Random): Fate {
  if (chance(0.15)) return "lost";
  return chance(0.15) ? "answer lost" : "arrives";
}

function newWorld(chances: Random) {
  const database = simulatedDatabase();
  const spool: Spool = { orphans: [], missing: 0 };
  const opened = new Set<string>();
  const answered = new Set<string>();
  let nowMs = 1_767_225_600_000;
  let starts = 0;
  let calls = 0;
  let deaths = 0;
  let alone = 0;
  let aloneUsd = 0n;
  const whenAway = chances.chance(0.5) ? "refuse" : "local";
  const start = (): SimulatedGateway => {
    starts += 1;
    const gateway = simulatedGateway(
      { holder: `gateway-${starts}`, whenAway, startedMs: nowMs },
      database,
      spool,
    );
    if (!database.isAway) database.heartbeat(gateway.holder, nowMs);
    return gateway;
  };
  const gateways = [start(), start()];

  /** Does `work` with one of the gateways; one that dies of it is replaced. */
  function withGateway(work: (gateway: SimulatedGateway) => void): void {
    const at = chances.below(gateways.length);
    const gateway = gateways[at];
    if (!gateway) return;
    if (chances.chance(0.04)) gateway.own.dieAfter(chances.below(4));
    try {
      work(gateway);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      deaths += 1;
      gateway.die();
      gateways[at] = start();
    }
  }

  const begin = (gateway: SimulatedGateway) => {
    calls += 1;
    // Small ones fit into a slice of the budget.
    const bound = chances.chance(0.4) ? 1 + chances.below(30) : 100 * (1 + chances.below(9));
    const costs = BigInt(chances.chance(0.7) ? bound : chances.below(bound)) * UNIT;
    const id = `call-${calls}`;
    const isBounded = chances.chance(0.8);
    const facts = { usd: BigInt(bound) * UNIT, isBounded, costs, fate: fateBy(chances), nowMs };
    if (!gateway.begin(id, facts)) return;
    opened.add(id);
    if (!database.isAway) return;
    alone += 1;
    aloneUsd += costs;
  };
  const end = (gateway: SimulatedGateway) => {
    const id = gateway.end(chances.below(gateway.running.length), fateBy(chances));
    if (id !== null) answered.add(id);
  };
  const actions: ((gateway: SimulatedGateway) => void)[] = [
    ...[begin, begin, begin, end, end],
    (gateway) => void gateway.deliverOwn(fateBy(chances)),
    (gateway) => void gateway.deliverAdopted(fateBy(chances)),
    (gateway) => gateway.sweep(),
    (gateway) => gateway.adopt(),
    () => {
      nowMs += chances.below(chances.chance(0.1) ? 4_000_000 : 60_000);
      if (database.isAway) return;
      for (const { holder } of gateways) database.heartbeat(holder, nowMs);
      database.sweep(nowMs);
    },
    () => {
      database.isAway = chances.chance(0.4);
    },
    // A step of the machines' clock, not of the database's, which alone decides on reservations.
    () => {
      nowMs += BEAT_MS;
    },
  ];

  return {
    step: () => withGateway(chances.pick(actions) ?? (() => undefined)),
    /** All messages arrive, running calls end, and a last process takes over whatever is left. */
    heal(): void {
      database.isAway = false;
      for (const gateway of gateways) {
        gateway.own.reopen();
        for (let id = gateway.end(0, "arrives"); id !== null; id = gateway.end(0, "arrives"))
          answered.add(id);
        gateway.die();
      }
      const last = start();
      last.adopt();
      let more = true;
      while (more) more = last.deliverAdopted("arrives");
    },
    outcome(): Outcome {
      const stateOf = (id: string) => database.records.get(id)?.state;
      const over = database.spent() - parsePico(BUDGET) - database.freedUsd();
      const faults = [
        ...[...answered]
          .filter((id) => stateOf(id) !== "ok")
          .map((id) => `${id} was answered and is ${stateOf(id)}`),
        ...[...opened]
          .filter((id) => !database.records.has(id))
          .map((id) => `${id} was sent and has no record`),
        ...[...database.records.keys()].filter((id) => !opened.has(id)).map((id) => `${id} was never sent`),
        ...(over > (whenAway === "refuse" ? 0n : aloneUsd)
          ? [`the budget is over by ${over} beyond what dead processes had not written`]
          : []),
        ...(spool.missing > 0 ? [`${spool.missing} records seem lost to the mark and are not`] : []),
      ];
      return { answered: answered.size, opened: opened.size, deaths, alone, faults };
    },
  };
}
