import { expect, test } from "bun:test";
import { turns } from "#gateway/stores/reports/turns.ts";

test("no more run at once than may, in order, whether they fail or not", async () => {
  const inTurn = turns(2);
  const began: number[] = [];
  let running = 0;
  let most = 0;
  const work = (id: number) => async () => {
    began.push(id);
    most = Math.max(most, ++running);
    await Bun.sleep(1);
    running--;
    if (id % 2 === 0) throw new Error("even");
    return id;
  };
  const outcomes = await Promise.allSettled([0, 1, 2, 3, 4].map((id) => inTurn(work(id))));
  expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual([false, true, false, true, false]);
  expect([most, began]).toEqual([2, [0, 1, 2, 3, 4]]);
  expect(await inTurn(work(5))).toBe(5);
});
