import type { Result } from "#shared/report.ts";
import { Panel } from "../page.tsx";
import { previousWords, windowWords } from "../window-words.ts";
import { inWords } from "./causes.ts";
import { RateMixVolume } from "./rate-mix-volume.tsx";
import { Waterfall } from "./waterfall.tsx";
import { stepsOf } from "./waterfall-steps.ts";

/** Why the cost is not what it was, in words and bars; words alone if there was no cost before, or there is no cost now. */
export function CostCauses({ result }: { result: Result }) {
  const { decomposition } = result;
  if (!decomposition) return null;
  const before = previousWords(result);
  const floor = decomposition.floor ? " Calls without a known cost are left out." : "";
  return (
    <Panel title="What moved the cost" sub={`${inWords(decomposition, before)}${floor}`}>
      {decomposition.previousUsd !== 0 && decomposition.currentUsd !== 0 && (
        <>
          <Waterfall steps={stepsOf(decomposition, before, windowWords(result))} />
          <RateMixVolume result={result} />
        </>
      )}
    </Panel>
  );
}
