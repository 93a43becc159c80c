import type { PullRequestPage } from "#shared/admin/pull-requests.ts";
import { counted } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";

export type Part = PullRequestPage["models"][number];

export const PartFigures = ({ part }: { part: Omit<Part, "name"> }) => (
  <>
    <span className="number">
      <Money value={part.cost_usd} floor={part.is_lower_bound} />
    </span>
    <span className="number small mute">{counted(part.requests, "call")}</span>
  </>
);
