import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { faultsOfAccess, type Visit } from "#test/support/browser.ts";
import { ALL } from "#test/support/tiers.ts";
import { until } from "#test/support/until.ts";

const LOOKS = [
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 390, height: 844, colorScheme: "dark" },
] as const;

/** What is wider than its room. Only on a phone do tables fold. */
const TOO_WIDE = `[document.documentElement, ...(innerWidth < 480 ? document.querySelectorAll(".table-scroll") : [])]
  .filter((it) => it.scrollWidth > it.clientWidth)
  .map((it) => (it.ariaLabel ?? "the page") + ": " + (it.scrollWidth - it.clientWidth))`;

/** How many looks each profile was given, so that they take turns. */
const given = new WeakMap<Page, number>();

/**
 * The open page and its tables are no wider than the window, broke no rule of the content policy and left the origin nowhere. A page's own test
 * looks at it wide and light, then on a phone and dark; where a story comes by in another state of the page, the two looks take
 * turns. With `access`, which pages with every kind of part ask for, one of the looks, in turn, has no serious fault of access
 * either; with `--all`, both have none, wherever a story comes by.
 */
export async function expectFit(
  { page, faults }: Visit,
  looks: "access" | "both" | "next" = "next",
): Promise<void> {
  const [usual] = LOOKS;
  const turn = given.get(page) ?? 0;
  given.set(page, turn + 1);
  const next = LOOKS[turn % LOOKS.length] ?? usual;
  const all = process.env[ALL] !== undefined;
  const taken = looks !== "next" || all ? LOOKS : [next];
  try {
    for (const look of taken) {
      await take(page, look);
      if (all || (looks === "access" && look === next)) {
        expect([look.width, await faultsOfAccess(page)]).toEqual([look.width, []]);
      }
      // Tables fold when they are drawn again.
      const tooWide = () => page.evaluate<string[]>(TOO_WIDE);
      await until(async () => (await tooWide()).length === 0).catch(() => undefined);
      expect([look.width, await tooWide()]).toEqual([look.width, []]);
    }
  } finally {
    if (taken.at(-1) !== usual) await take(page, usual);
  }
  expect(faults).toEqual([]);
}

async function take(page: Page, { width, height, colorScheme }: (typeof LOOKS)[number]): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
}

/** Follows the link of the main navigation, as a person does, and waits for what the page shows. */
export async function openByName({ page, settled }: Visit, name: string): Promise<void> {
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  await settled();
}
