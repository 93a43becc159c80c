import type { Decomposition } from "#shared/report.ts";
import type { FrameSearch } from "../data/search.ts";
import { inWords } from "../parts/charts/causes.ts";
import { Waterfall } from "../parts/charts/waterfall.tsx";
import { rangeWords } from "../parts/frame-controls.tsx";
import { Panel } from "../parts/page-head.tsx";
import { OVERVIEW_RANGE } from "./overview-specs.ts";

type CostMovedProps = { decomposition: Decomposition | null; search: FrameSearch; before: string };

/** Why the cost is not what it was, in words and bars. */
export function CostMoved({ decomposition, search, before }: CostMovedProps) {
  if (!decomposition) return null;
  const floor = decomposition.floor ? " Calls without a known cost are left out." : "";
  return (
    <Panel title="What moved the cost" sub={`${inWords(decomposition, before)}${floor}`}>
      <Waterfall parts={decomposition} before={capital(before)} now={rangeWords(search, OVERVIEW_RANGE)} />
    </Panel>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
