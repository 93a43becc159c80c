import { Button } from "@mantine/core";
import { useState } from "react";
import { MOVE_NAMES, MOVE_WORDS, MOVES, type Movement } from "#shared/movement.ts";
import type { Result } from "#shared/report.ts";
import { useAddress } from "../../data/address.ts";
import { useReport } from "../../data/reports.ts";
import { specSearch } from "../../data/spec-search.ts";
import { type Column, type Columns, cell, figure, text } from "../columns.tsx";
import { DataTable } from "../data-table.tsx";
import { exactUsd, signed, usd } from "../format.ts";
import { Answered } from "../page.tsx";
import { codeWords } from "../words.ts";

/** Rate, mix and volume of a change in cost. They read single calls, so they are asked for on a click. */
export function RateMixVolume({ result }: { result: Result }) {
  const [isOpen, setOpen] = useState(false);
  const spec = { ...result.spec, dimensions: [], measures: ["cost_usd" as const], view: "table" as const };
  const [{ as_of }] = useAddress(specSearch);
  const query = useReport(isOpen ? spec : null, { rate_mix_volume: true, as_of });
  if (!isOpen)
    return (
      <Button size="xs" className="no-print" onClick={() => setOpen(true)}>
        Rate, mix and volume
      </Button>
    );
  return (
    <Answered query={query} height={240}>
      {({ rate_mix_volume: moved }) => moved && <Moved moved={moved} />}
    </Answered>
  );
}

const KIND_WORDS = {
  volume: "Volume: more or less of it",
  mix: "Mix: other things",
  rate: "Rate: dearer or cheaper",
};
type Line = { name: string; usd: string };

const change = <T,>(head: string, of: (row: T) => string): Column<T> =>
  figure(
    head,
    (row) => <span title={exactUsd(of(row))}>{signed(usd(of(row)), Number(of(row)))}</span>,
    (row) => Number(of(row)),
  );

function Moved({ moved }: { moved: Movement }) {
  const lines = (["volume", "mix", "rate"] as const).flatMap((kind): Line[] => [
    { name: KIND_WORDS[kind], usd: moved[kind] },
    ...MOVE_NAMES.filter((name) => kind !== "rate" && MOVES[kind].some((it) => it === name)).map((name) => ({
      name: `– ${MOVE_WORDS[name]}`,
      usd: moved.parts[name],
    })),
  ]);
  return (
    <>
      {moved.floor && (
        <p className="mute small">
          Calls count with their known cost, so the real change may be more or less.
        </p>
      )}
      <DataTable
        label="Rate, mix and volume"
        rows={[...lines, { name: "Change in cost", usd: moved.delta_usd }]}
        rowKey={["name"]}
        columns={{
          name: cell("What moved the cost", ({ name }: Line) => name),
          usd: change("USD", (line: Line) => line.usd),
        }}
      />
      <DataTable
        label="Rate, mix and volume by model, unit and tier"
        rows={moved.rows}
        rowKey={["model", "kind", "tier"]}
        columns={MOVED}
      />
    </>
  );
}

const MOVED: Columns<Movement["rows"][number]> = {
  model: text("Model", ({ model }) => model),
  kind: text("Unit", ({ kind }) => codeWords(kind)),
  tier: text("Tier", ({ tier }) => tier),
  delta_usd: change("Change", (row) => row.delta_usd),
  volume: change("Volume", ({ volume }) => volume),
  mix: change("Mix", ({ mix }) => mix),
  rate: change("Rate", ({ rate }) => rate),
};
