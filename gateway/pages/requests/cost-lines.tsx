import type { RequestPage } from "#shared/admin/records.ts";
import { type Columns, figure, folded, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { count, decimalsOf, perMillionUsd, plainUsd } from "../parts/format.ts";
import { Moment, Money } from "../parts/values.tsx";
import { codeWords } from "../parts/words.ts";

type CostLinesProps = { cost: RequestPage["cost"]; total: string | null; floor: boolean };

const PIECES = ["image", "search_unit", "web_search", "source", "call"];

/** Tokens and characters are priced by the million, as vendors do; other pieces by the piece. */
const priceOf = (unit: string, each: string): string =>
  PIECES.includes(unit) ? `${plainUsd(each)} each` : `${perMillionUsd(each)} per million`;

type Line = RequestPage["cost"]["rows"][number];

const columnsOf = ({ total, floor }: CostLinesProps, decimals: number): Columns<Line> => ({
  unit: { ...text("Item", ({ unit }) => codeWords(unit)), foot: "Cost" },
  count: folded(figure("Count", ({ count: pieces }) => count(pieces))),
  price: folded(figure("Price", ({ unit, usd_per_unit: each }) => priceOf(unit, each))),
  usd: {
    ...figure("Total", ({ usd }) => plainUsd(usd, decimals)),
    foot: <Money value={total} floor={floor} whole={decimals} />,
  },
});

/** Count times price, line by line; the lines add up to the cost. */
export function CostLines(props: CostLinesProps) {
  const { cost, total } = props;
  const decimals = decimalsOf([total ?? 0, ...cost.rows.map(({ usd }) => usd)]);
  if (cost.rows.length === 0) return <Versions cost={cost} />;
  return (
    <>
      <DataTable
        {...{ label: "Lines of the cost", rows: cost.rows, rowKey: ["unit"] }}
        columns={columnsOf(props, decimals)}
      />
      {cost.repriced_at !== null && (
        <p className="mute small">
          Its prices were set <Moment at={cost.repriced_at} />, after the call.
        </p>
      )}
      <Versions cost={cost} />
    </>
  );
}

/** What the call cost before. */
const Versions = ({ cost }: Pick<CostLinesProps, "cost">) =>
  cost.versions.map(({ cost_usd: usd, until, reason, actor }) => (
    <p className="mute small" key={until}>
      Until <Moment at={until} />: <Money value={usd} whole /> ({reason} by {actor}).
    </p>
  ));
