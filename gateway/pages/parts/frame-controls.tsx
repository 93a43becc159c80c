import { Button, Menu, Popover, Skeleton } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { Compare, RangeName, Result } from "#shared/report.ts";
import { dayIn } from "#shared/time-zone.ts";
import { useMe } from "../data/me.ts";
import { type FrameSearch, namesDays } from "../data/search.ts";
import { isoDay } from "./dates.ts";
import { previousWords, windowWords } from "./window-words.ts";

const CustomRange = lazy(() => import("./custom-range.tsx").then((it) => ({ default: it.CustomRange })));

/** What an address narrows figures to, and what changes it. */
export type Frame = {
  search: FrameSearch;
  change: (change: Partial<{ [K in keyof FrameSearch]: FrameSearch[K] | undefined }>) => void;
};

const RANGE_WORDS = {
  mtd: "This month",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  last_month: "Last month",
} as const satisfies Record<RangeName, string>;

const DATE = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;

function rangeWords({ range, ...own }: FrameSearch, fallback: RangeName): string {
  const [from, to] = [own.from ?? null, own.to ?? null];
  if (from === null && to === null) return RANGE_WORDS[range ?? fallback];
  const last = to === null ? null : Date.parse(to) + (DATE.test(to) ? DAY_MS : 0);
  const ends = [from === null ? null : Date.parse(from), last];
  if (ends.some(Number.isNaN)) return `${from ?? "first record"} – ${to ?? "now"}`;
  const [first = null, end = null] = ends.map((ms) => (ms === null ? null : new Date(ms).toISOString()));
  return windowWords({ spec: { range: { from, to } }, window: { from: first, to: end } });
}

/** Ranges that an address has as days: those of the zone, so that a shared one stays what it was. */
export function daysUntilNow(
  zone: string,
  nowMs = Date.now(),
): Record<string, { from: string; to?: string }> {
  const today = dayIn(nowMs, zone);
  const [year = "", month = ""] = today.split("-");
  const firstOfQuarter = String(Number(month) - ((Number(month) - 1) % 3)).padStart(2, "0");
  return {
    Today: { from: today, to: today },
    "Last 90 days": { from: isoDay(Date.parse(today) - 89 * DAY_MS) },
    "This quarter": { from: `${year}-${firstOfQuarter}-01` },
  };
}

export function RangePicker({ search, fallback, change }: Frame & { fallback: RangeName }) {
  const [isCustom, setCustom] = useState(false);
  const { report_time_zone: zone } = useMe();
  const choose = (range: RangeName) => change({ range, from: undefined, to: undefined });
  return (
    <Popover opened={isCustom} onChange={setCustom} position="bottom-end" trapFocus returnFocus>
      <Menu position="bottom-end">
        <Menu.Target>
          <Popover.Target>
            <Button size="xs" aria-label={`Range: ${rangeWords(search, fallback)}`}>
              {rangeWords(search, fallback)}
            </Button>
          </Popover.Target>
        </Menu.Target>
        <Menu.Dropdown>
          {Object.entries(RANGE_WORDS).map(([name, words]) => (
            // The table's names are ranges.
            <Menu.Item key={name} onClick={() => choose(name as RangeName)}>
              {words}
            </Menu.Item>
          ))}
          {Object.entries(daysUntilNow(zone)).map(([words, days]) => (
            <Menu.Item key={words} onClick={() => change({ range: undefined, to: undefined, ...days })}>
              {words}
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => setCustom(true)}>Other days …</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Popover.Dropdown>
        <Suspense fallback={<Skeleton width={252} height={280} />}>
          <CustomRange
            from={search.from}
            to={search.to}
            choose={(from, to) => {
              setCustom(false);
              change({ range: undefined, from, to });
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}

type ComparePickerProps = Frame & {
  compare: Compare;
  /** What is shown: its previous window is the one to name. */
  result: Result | null | undefined;
};

/** Whether the same stretch before is shown beside it. */
export function ComparePicker({ result, compare, search, change }: ComparePickerProps) {
  const isOn = compare === "previous_period";
  return (
    <Button
      size="xs"
      aria-pressed={isOn}
      disabled={namesDays(search)}
      onClick={() => change({ compare: isOn ? "none" : "previous_period" })}
    >
      {isOn ? `vs. ${previousWords(result ?? { previousWindow: null })}` : "Compare"}
    </Button>
  );
}
