import type { SeatUse } from "#shared/admin/seats.ts";
import { useJson } from "../data/api.ts";
import { counted } from "../parts/format.ts";
import { Panel } from "../parts/page.tsx";
import { Money } from "../parts/values.tsx";

/** Own subscriptions of this month, and what their use would cost. Nothing is shown without one. */
export function OwnSeats() {
  const { data } = useJson<SeatUse>(["own", "seats"], "/v1/me/seats");
  if (!data || data.seats.length === 0) return null;
  return (
    <Panel
      title="My subscriptions"
      sub="What they cost this month, and what their use would cost by the price list."
    >
      {data.seats.map(({ vendor, plan, cost_usd, calls, value_usd }) => (
        <div className="bar-row" key={`${vendor} ${plan}`}>
          <span>
            {vendor} {plan}
          </span>
          <span className={calls === 0 ? "tag warn" : "tag"}>
            {calls === null ? "use is not seen here" : calls === 0 ? "not used" : counted(calls, "call")}
          </span>
          <span className="number">
            <Money value={cost_usd} /> for <Money value={value_usd} unknown="Its use has no known cost." />
          </span>
        </div>
      ))}
    </Panel>
  );
}
