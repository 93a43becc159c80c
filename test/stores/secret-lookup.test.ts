import { expect, test } from "bun:test";
import type { ClientKey } from "#gateway/directory.ts";
import { GatewayError } from "#gateway/errors.ts";
import { secretLookup } from "#gateway/stores/directory/secret-lookup.ts";
import { movableClock } from "./movable-clock.ts";

const KEY: ClientKey = {
  id: "k",
  name: "k",
  owner: null,
  teams: null,
  costCenter: null,
  sharedBudgets: [],
  scopes: {},
  limits: null,
  expiresAtMs: null,
};

/** A lookup over a table that is asked by hand: each query waits until it is let go. */
function scripted() {
  const queries: { hashes: string[]; answer: (found: Map<string, ClientKey>) => void; fail: () => void }[] =
    [];
  const clock = movableClock();
  const lookup = secretLookup(
    clock,
    (hashes) =>
      new Promise((resolve, reject) => {
        queries.push({ hashes, answer: resolve, fail: () => reject(new Error("away")) });
      }),
  );
  return { queries, clock, lookup };
}

const typeOf = async (answer: Promise<unknown>) => {
  try {
    return await answer;
  } catch (error) {
    return error instanceof GatewayError ? error.type : error;
  }
};

test("while one query is out, all others wait for one more", async () => {
  const { queries, lookup } = scripted();
  const first = lookup.find("a");
  const others = [lookup.find("b"), lookup.find("c"), lookup.find("b"), lookup.find("a")];
  expect(queries.map(({ hashes }) => hashes)).toEqual([["a"]]);
  queries[0]?.answer(new Map([["a", KEY]]));
  expect(await first).toBe(KEY);
  await Bun.sleep(0);
  expect(queries.map(({ hashes }) => hashes)).toEqual([["a"], ["b", "c"]]);
  queries[1]?.answer(new Map([["c", KEY]]));
  expect(await Promise.all(others)).toEqual([null, KEY, null, KEY]);
});

test("a secret that is unknown is not asked for again until three seconds have passed", async () => {
  const { queries, clock, lookup } = scripted();
  const first = lookup.find("a");
  queries[0]?.answer(new Map());
  await first;
  await Bun.sleep(0);
  clock.advance(2900);
  expect(lookup.find("a")).toBeNull();
  clock.advance(101);
  expect(lookup.find("a")).toBeInstanceOf(Promise);
  expect(queries).toHaveLength(2);
});

test("a change makes it forget who was unknown", async () => {
  const { queries, lookup } = scripted();
  const first = lookup.find("a");
  queries[0]?.answer(new Map());
  await first;
  lookup.forget();
  expect(lookup.find("a")).toBeInstanceOf(Promise);
});

test("a key that was found is known until the directory is read", async () => {
  const { queries, lookup } = scripted();
  const first = lookup.find("a");
  queries[0]?.answer(new Map([["a", KEY]]));
  await first;
  expect(lookup.find("a")).toBe(KEY);
  expect(queries).toHaveLength(1);
  lookup.forget();
  expect(lookup.find("a")).toBeInstanceOf(Promise);
});

test("a key that was looked for before the directory was read is not known after it", async () => {
  const { queries, lookup } = scripted();
  const first = lookup.find("a");
  lookup.forget();
  queries[0]?.answer(new Map([["a", KEY]]));
  expect(await first).toBe(KEY);
  // It may have been revoked between the two.
  expect(lookup.find("a")).toBeInstanceOf(Promise);
});

test("a query that fails fails everyone who waited for it, and nobody after", async () => {
  const { queries, lookup } = scripted();
  const both = [lookup.find("a"), lookup.find("a")];
  queries[0]?.fail();
  expect(await Promise.all(both.map((one) => typeOf(Promise.resolve(one))))).toEqual([
    "key_unverifiable",
    "key_unverifiable",
  ]);
  const again = lookup.find("a");
  queries[1]?.answer(new Map([["a", KEY]]));
  expect(await again).toBe(KEY);
});

test("a flood of guesses is bounded: those beyond are told that the key cannot be verified", async () => {
  const { queries, lookup } = scripted();
  const guesses = Array.from({ length: 2001 }, (_, n) => lookup.find(`guess ${n}`));
  expect(() => lookup.find("one more")).toThrow(GatewayError);
  queries[0]?.answer(new Map());
  await guesses[0];
  await Bun.sleep(0);
  queries[1]?.answer(new Map());
  expect(new Set(await Promise.all(guesses))).toEqual(new Set([null]));
});
