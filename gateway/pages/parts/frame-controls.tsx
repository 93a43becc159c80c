import { Button, Menu, Popover, Skeleton } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { Compare, RangeName } from "#shared/report.ts";
import type { FrameSearch } from "../data/search.ts";
import { monthName, utcDay } from "./dates.ts";

const CustomRange = lazy(() => import("./custom-range.tsx").then((it) => ({ default: it.CustomRange })));

type Change = (change: Partial<{ [K in keyof FrameSearch]: FrameSearch[K] | undefined }>) => void;
type ControlProps = { search: FrameSearch; fallback: RangeName; change: Change };

const RANGE_WORDS = {
  mtd: "This month",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  last_month: "Last month",
} as const satisfies Record<RangeName, string>;

/** The chosen range in words: `November to date`, `3 Nov – 9 Nov`. */
export function rangeWords({ range, from, to }: FrameSearch, fallback: RangeName, now = new Date()): string {
  if (from !== undefined || to !== undefined) {
    const day = (text: string | undefined, other: string) =>
      text === undefined ? other : utcDay(Date.parse(text));
    return `${day(from, "first record")} – ${day(to, "now")}`;
  }
  const name = range ?? fallback;
  if (name === "mtd") return `${monthName(now)} to date`;
  if (name !== "last_month") return RANGE_WORDS[name];
  return monthName(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)));
}

/** What the range is compared with, in words: `October`, `the 7 days before`. */
export function beforeWords({ range, from, to }: FrameSearch, fallback: RangeName, now = new Date()): string {
  if (from !== undefined || to !== undefined) return "the period before";
  const name = range ?? fallback;
  if (name === "7d") return "the 7 days before";
  if (name === "30d") return "the 30 days before";
  const back = name === "mtd" ? 1 : 2;
  return monthName(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)));
}

/** The range, with days of UTC. */
export function RangePicker({ search, fallback, change }: ControlProps) {
  const [isCustom, setCustom] = useState(false);
  const choose = (range: RangeName) => change({ range, from: undefined, to: undefined });
  return (
    <Popover opened={isCustom} onChange={setCustom} position="bottom-end" trapFocus returnFocus>
      <Menu position="bottom-end">
        <Menu.Target>
          <Popover.Target>
            <Button variant="default" size="xs" aria-label={`Range: ${rangeWords(search, fallback)}`}>
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

type ComparePickerProps = Omit<ControlProps, "search"> & { search: FrameSearch; compare: Compare };

/** Whether the same stretch before is shown beside it. */
export function ComparePicker({ search, fallback, compare, change }: ComparePickerProps) {
  const isOn = compare === "previous_period";
  return (
    <Button
      variant="default"
      size="xs"
      aria-pressed={isOn}
      onClick={() => change({ compare: isOn ? "none" : "previous_period" })}
    >
      {isOn ? `vs. ${beforeWords(search, fallback)}` : "Compare"}
    </Button>
  );
}
