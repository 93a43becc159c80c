import type { RequestPage } from "#shared/admin/records.ts";
import { count, perMillionUsd, plainUsd } from "../parts/format.ts";
import { Moment, Money } from "../parts/values.tsx";

type CostLinesProps = { cost: RequestPage["cost"]; total: string | null; floor: boolean };

const words = (unit: string): string => unit.replaceAll("_", " ");

const PIECES = ["image", "search_unit", "web_search", "source", "call"];

/** Tokens and characters are priced by the million, as vendors do; other pieces by the piece. */
const priceOf = (unit: string, each: string): string =>
  PIECES.includes(unit) ? `${plainUsd(each)} each` : `${perMillionUsd(each)} per million`;

/** Count times price, line by line; the lines add up to the cost. */
export function CostLines({ cost, total, floor }: CostLinesProps) {
  if (cost.rows.length === 0) return <Versions cost={cost} />;
  return (
    <>
      <div className="table-scroll plain">
        <table className="grid" aria-label="Lines of the cost">
          <thead>
            <tr>
              <th scope="col">Item</th>
              <th scope="col" className="number">
                Count
              </th>
              <th scope="col" className="number">
                Price
              </th>
              <th scope="col" className="number">
                Total
              </th>
            </tr>
          </thead>
          <tbody>
            {cost.rows.map(({ unit, count: pieces, usd_per_unit: each, usd }) => (
              <tr key={unit}>
                <td>{words(unit)}</td>
                <td className="number">{count(pieces)}</td>
                <td className="number">{priceOf(unit, each)}</td>
                <td className="number">{plainUsd(usd)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={3}>Cost</td>
              <td className="number">
                <Money value={total} floor={floor} whole />
              </td>
            </tr>
          </tfoot>
        </table>
      </div>
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
