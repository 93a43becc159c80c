import { expect, test } from "bun:test";
import { join } from "node:path";
import { STYLE } from "#github-app/setup/html.ts";

const TOKENS = await Bun.file(join(import.meta.dir, "../../shared/tokens.css")).text();

const SHARED = ["bg", "soft", "line", "ink", "accent", "bad"] as const;

/** The values of the shared colours in each block that sets them: first light, then dark. */
const coloursIn = (css: string) =>
  SHARED.map((name) =>
    [...css.matchAll(new RegExp(`--${name}: (#[0-9a-f]+)`, "g"))].map(([, value]) => value),
  );

test("the App's pages have the console's colours, in light and dark", () => {
  const colours = coloursIn(STYLE);
  expect(colours.every(({ length }) => length === 2)).toBe(true);
  expect(colours).toEqual(coloursIn(TOKENS));
});
