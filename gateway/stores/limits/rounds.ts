import type postgres from "postgres";
import type { BoundedQuery } from "#drizzle/deadline-pool.ts";
import type { Account } from "../../limits/account.ts";
import type { Admission, AdmittedCall, AskingCall, Booking, FoundState } from "../../limits/admission.ts";
import { type BudgetPlace, type CallSettlement, readStates, write } from "./booking.ts";
import type { Contact } from "./contact.ts";

export type RoundAccount = {
  id: string;
  /** Where what it spends is booked. */
  spendId: string;
  figures: Account;
};

/** By then Postgres knows of a call; its record, which removes that row, is stored afterwards. */
export type Order = { told: Promise<void> };

export type RoundsDeps = {
  query: BoundedQuery;
  holder: string;
  contact: Pick<Contact, "reachable" | "failed" | "whileReachable" | "silentMs">;
  /** Live gateways. */
  replicas(): number;
  order?: Order | undefined;
};

type WaitingCall = { call: AskingCall; answer(it: Admission): void };
type Asking = ReadonlyMap<RoundAccount, readonly WaitingCall[]>;
type Planned = { account: RoundAccount; calls: readonly WaitingCall[]; booking: Booking };

/** By account, the admitted calls that the next round sends to the database, and the promise of it. */
type Telling = { calls: Map<string, Told>; done: PromiseWithResolvers<void> };
type Told = { account: RoundAccount; admitted: AdmittedCall[] };

/** What ends in the next round, and the promise of it: true once it is written. */
type Ending = { settlements: CallSettlement[]; written: PromiseWithResolvers<boolean> };

type Round = { asking: Asking; telling: readonly Told[]; settlements: readonly CallSettlement[] };

/** How long the end of an answer waits for its settlement. */
const END_MS = 500;
/** How long calls wait before they ask again where another process may book alone. */
const TAKEN_MS = 20;
/** A round begins no earlier after the one before: more calls share it. */
const ROUND_MS = 2;
/** Calls of an account admitted by one statement. */
const BATCH_MAX = 200;

/** Admits calls and settles ended ones in rounds: each is one statement, after one that reads unknown figures. */
export class Rounds {
  readonly #deps: RoundsDeps;
  readonly #asking = new Map<RoundAccount, WaitingCall[]>();
  #ending: Ending = { settlements: [], written: Promise.withResolvers() };
  #telling: Telling = { calls: new Map(), done: Promise.withResolvers() };
  #busy = false;

  constructor(deps: RoundsDeps) {
    this.#deps = deps;
  }

  /** By the database's figures, at once if no other process may book, or alone at once while it is away. */
  admit(account: RoundAccount, call: AskingCall): Admission | Promise<Admission> {
    const { figures } = account;
    return (
      this.#admitNow(account, call) ??
      new Promise((resolve) => {
        figures.waiting += 1;
        const answer = (it: Admission) => {
          figures.waiting -= 1;
          resolve(it);
        };
        const waiting = this.#asking.get(account);
        if (waiting) waiting.push({ call, answer });
        else this.#asking.set(account, [{ call, answer }]);
        void this.#run();
      })
    );
  }

  #admitNow(account: RoundAccount, call: AskingCall): Admission {
    const { calls, done } = this.#telling;
    const told = calls.get(account.id);
    if (told && told.account !== account) return null;
    const admitted = account.figures.admitNow(call);
    if (!admitted) return null;
    if (this.#deps.order) this.#deps.order.told = done.promise;
    if (told) told.admitted.push(admitted);
    else calls.set(account.id, { account, admitted: [admitted] });
    void this.#run();
    return admitted;
  }

  /** Resolves with whether the ends are written, after half a second at most; those that are not are given again. */
  async end(ended: readonly CallSettlement[]): Promise<boolean> {
    if (ended.length === 0) return true;
    const { settlements, written } = this.#ending;
    if (settlements.length === 0) {
      const timer = setTimeout(() => written.resolve(false), END_MS);
      void written.promise.then(() => clearTimeout(timer));
    }
    settlements.push(...ended);
    void this.#run();
    return written.promise;
  }

  async #run(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    // Those of the same moment take part: one call asks several accounts.
    await null;
    while (this.#asking.size + this.#telling.calls.size + this.#ending.settlements.length > 0) {
      const { settlements, written } = this.#ending;
      const { calls, done } = this.#telling;
      this.#ending = { settlements: [], written: Promise.withResolvers() };
      this.#telling = { calls: new Map(), done: Promise.withResolvers() };
      const begunMs = performance.now();
      written.resolve(
        await this.#round({ asking: this.#takeAsking(calls), telling: [...calls.values()], settlements }),
      );
      done.resolve();
      const restMs = ROUND_MS - (performance.now() - begunMs);
      if (restMs > 0) await Bun.sleep(restMs);
    }
    this.#busy = false;
  }

  /** An account takes part once: with calls that are admitted already, else with those of one period. */
  #takeAsking(told: ReadonlyMap<string, Told>): Map<RoundAccount, WaitingCall[]> {
    const taken = new Map<RoundAccount, WaitingCall[]>();
    const ids = new Set(told.keys());
    for (const [account, calls] of this.#asking) {
      if (ids.has(account.id)) continue;
      ids.add(account.id);
      taken.set(account, calls.splice(0, BATCH_MAX));
      if (calls.length === 0) this.#asking.delete(account);
    }
    return taken;
  }

  async #round(round: Round): Promise<boolean> {
    const { contact, replicas } = this.#deps;
    if (contact.reachable()) {
      try {
        await this.#write(round);
        return true;
      } catch (error) {
        contact.failed(error);
      }
    }
    for (const { account, admitted } of round.telling) account.figures.untold(admitted);
    const alone = { replicas: replicas(), silentMs: contact.silentMs() };
    for (const [{ figures }, all] of round.asking)
      for (const { call, answer } of all) answer(figures.admitAlone(call, alone));
    return false;
  }

  async #write({ asking, telling, settlements }: Round): Promise<void> {
    const planned = await this.#plan(asking);
    for (const { account, admitted } of telling)
      planned.push({ account, calls: [], booking: account.figures.told(admitted) });
    const bookings = planned
      .filter(({ booking }) => booking.admitted.length > 0)
      .map(({ account, booking }) => ({ place: this.#placeOf(account), booking }));
    const isNothing = bookings.length + settlements.length === 0;
    const stored = isNothing ? new Map() : await this.#ask((sql) => write(sql, bookings, settlements));
    for (const it of planned) this.#written(it, stored.get(it.account.id));
  }

  /** `turn`: of the account, once its booking is stored. */
  #written({ account, calls, booking }: Planned, turn: number | null | undefined): void {
    const { figures } = account;
    if (booking.admitted.length === 0 || turn === (booking.found.turn ?? 0) + 1) {
      const admissions = figures.booked(booking);
      for (const [index, { answer }] of calls.entries()) answer(admissions[index] ?? null);
      return;
    }
    // Another process has written since the figures were read, or may book alone.
    figures.overtaken();
    const again = () => {
      this.#asking.set(account, [...calls, ...(this.#asking.get(account) ?? [])]);
      void this.#run();
    };
    if (calls.length > 0) setTimeout(again, turn === null ? TAKEN_MS : 0);
  }

  /** Remembered figures only admit; those that are read for a call may refuse it. */
  async #plan(calls: Asking): Promise<Planned[]> {
    const planned: Planned[] = [];
    const unread: RoundAccount[] = [];
    for (const [account, all] of calls) {
      const remembered = account.figures.remembered();
      const it = remembered && plannedWith(account, all, remembered);
      if (it?.booking.admitted.length === all.length) planned.push(it);
      else unread.push(account);
    }
    if (unread.length === 0) return planned;
    const places = unread.map((account) => this.#placeOf(account));
    const states = await this.#ask((sql) => readStates(sql, places));
    for (const account of unread) {
      const found = states.get(account.id);
      if (!found) throw new RangeError("each account has a state");
      planned.push(plannedWith(account, calls.get(account) ?? [], found));
    }
    return planned;
  }

  #ask<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    const { contact, query } = this.#deps;
    return contact.whileReachable(query(work));
  }

  #placeOf({ id, spendId, figures }: RoundAccount): BudgetPlace {
    return { accountId: id, spendId, period: figures.period, holder: this.#deps.holder };
  }
}

const plannedWith = (account: RoundAccount, calls: readonly WaitingCall[], found: FoundState): Planned => {
  const asked = calls.map(({ call }) => call);
  return { account, calls, booking: account.figures.plan(asked, found) };
};
