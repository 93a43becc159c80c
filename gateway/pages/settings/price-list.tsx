import { Group } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { PriceChanges, PriceChangeView } from "#shared/admin/price-changes.ts";
import { postJson, useJson } from "../data/api.ts";
import { Act } from "../parts/act.tsx";
import { type Column, type Columns, cell, moment, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { calendarDay } from "../parts/dates.ts";
import { counted, plainUsd } from "../parts/format.ts";
import { Panel } from "../parts/page.tsx";
import { Moment } from "../parts/values.tsx";

const PATH = "/admin/v1/prices";

/** The fetched price list: what is new, and changed prices that wait for approval. */
export function PriceList() {
  const queries = useQueryClient();
  const { data } = useJson<PriceChanges>(["settings", "price-changes"], `${PATH}/changes`);
  const post = async (place: string) => {
    await postJson(`${PATH}/${place}`, {});
    await queries.invalidateQueries({ queryKey: ["settings"] });
  };
  if (!data) return null;
  const decision: Column<PriceChangeView> = cell(
    "State",
    (change) =>
      change.state === "waiting" ? (
        <Group gap="xs">
          <Act act={() => post(`changes/${change.id}/approve`)}>Approve</Act>
          <Act act={() => post(`changes/${change.id}/dismiss`)}>Dismiss</Act>
        </Group>
      ) : (
        <Decided {...change} />
      ),
    ({ state }) => state,
  );
  return (
    <Panel
      title="Price list"
      sub="New models of the public list have their price at once. Changed prices wait for approval, and change no call of the past."
      aside={
        data.fetches && (
          <Act size="sm" act={() => post("refresh")}>
            Refresh now
          </Act>
        )
      }
    >
      <p className="mute small">
        {data.fetched_at === null ? (
          "The public list was never fetched."
        ) : (
          <>
            Fetched <Moment at={data.fetched_at} />.
          </>
        )}{" "}
        {!data.fetches && "Set PRICES_URL to fetch it once a day."}
      </p>
      {data.missing.length > 0 && (
        <details className="small">
          <summary>
            {counted(data.missing.length, "model")} of the current list are missing from it, and keep their
            price.
          </summary>
          {data.missing.join(", ")}
        </details>
      )}
      <DataTable
        label="New and changed prices"
        sortName="list.sort"
        columns={{ ...COLUMNS, decision }}
        rows={data.data}
        rowKey={["id"]}
        none={null}
      />
    </Panel>
  );
}

/** What became of a change, and the older calls that it can price. */
const Decided = ({ state, actor, offers }: PriceChangeView) => (
  <>
    {state === "new" ? "in force" : `${state} by ${actor}`}
    {offers.map(({ model, from, records }) => (
      <div key={model} className="mute small">
        {counted(records, "call")} of {model} since {calendarDay(from)} without a price: correct the past
        below.
      </div>
    ))}
  </>
);

const COLUMNS: Columns<PriceChangeView> = {
  model: text("Model", ({ model }) => model),
  provider: text("Provider", ({ provider }) => provider),
  prices: cell("Prices", ({ before, after }) => (
    <div className="changes">
      {differing(before, after).map(([name, old, now]) => (
        <div key={name}>
          {name.replace("_mtok", ", per million").replaceAll("_", " ")}: {old && `${old} → `}
          {now ?? "none"}
        </div>
      ))}
    </div>
  )),
  seen: moment("Seen", ({ seen_at: at }) => at),
};

/** Amounts as money; what is more than an amount as the list writes it. */
const textOf = (price: unknown): string | undefined =>
  typeof price === "number" ? plainUsd(price) : JSON.stringify(price);

function differing(
  before: unknown,
  after: unknown,
): [name: string, old: string | undefined, now: string | undefined][] {
  const membersOf = (prices: unknown): Record<string, unknown> =>
    typeof prices === "object" && prices !== null ? { ...prices } : {};
  const [old, now] = [membersOf(before), membersOf(after)];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name) => {
    const texts = [textOf(old[name]), textOf(now[name])] as const;
    return texts[0] === texts[1] ? [] : [[name, ...texts]];
  });
}
