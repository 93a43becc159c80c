import { useQueryClient } from "@tanstack/react-query";
import type {
  CommitmentUse,
  CommitmentView,
  SeatsRead,
  SeatUse,
  SeatView,
  UsedSeat,
} from "#shared/admin/seats.ts";
import { postFile, useJson } from "../data/api.ts";
import { Act } from "../parts/act.tsx";
import { type Columns, cell, day, moment, money, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { counted, inUnit } from "../parts/format.ts";
import { Panel } from "../parts/page.tsx";
import { COMMITMENT, SEAT } from "./forms/bill-forms.ts";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

/** Of a CSV file. */
function ImportSeats() {
  const client = useQueryClient();
  const read = (file: File | null) =>
    postFile<SeatsRead>("/admin/v1/seats/import", file).finally(() => client.invalidateQueries());
  return (
    <Act
      accept=".csv"
      act={read}
      said={({ added, changed }) => `${counted(added, "seat")} added, ${changed} changed.`}
    >
      Import a file
    </Act>
  );
}

const SEATS: ResourceFacts<SeatView> = {
  path: "/admin/v1/seats",
  title: "Seats",
  noun: "seat",
  sub: "Subscriptions of people, paid by the month. A CSV file has the columns person, vendor, plan, monthly_usd, effective_from and effective_to.",
  nameOf: ({ person, vendor }) => `${vendor} of ${person}`,
  columns: {
    person: text("Person", ({ person }) => person),
    monthly: money("A month", ({ monthly_usd }) => monthly_usd),
    vendor: text("Vendor", ({ vendor }) => vendor),
    plan: text("Plan", ({ plan }) => plan),
    from: day("From", ({ effective_from }) => effective_from),
    to: day("Until", ({ effective_to: to }) => to, "no end"),
  },
  form: SEAT,
  aside: <ImportSeats />,
  empty: "Add the subscriptions of people to see who uses their seat.",
  removal: { verb: "Delete", effect: "Its months are gone, too. To end it, set until when it is paid." },
};

const USED_COLUMNS: Columns<UsedSeat> = {
  person: text("Person", ({ person }) => person),
  cost: money("Cost of the month", ({ cost_usd }) => cost_usd),
  seat: text("Seat", ({ vendor, plan }) => `${vendor} ${plan}`),
  calls: cell(
    "Use",
    ({ calls }) =>
      calls === null ? (
        <span className="mute">not seen here</span>
      ) : (
        <span className={calls === 0 ? "tag warn" : "tag good"}>{calls === 0 ? "not used" : "used"}</span>
      ),
    ({ calls }) => calls,
  ),
  value: money("Use at list prices", ({ value_usd }) => value_usd),
  last: moment("Last used", ({ last_used_at }) => last_used_at, "not this month"),
};

/** Seats of a month beside their use. Hidden without seats. */
function UsedSeats({ month }: { month: string }) {
  const { data } = useJson<SeatUse>(["seats", month], `/admin/v1/seats/use?month=${month}`);
  if (!data || data.seats.length === 0) return null;
  const summary = data.vendors.map(({ vendor, seats, used, unused_usd: unused }) =>
    used === null
      ? `${vendor}: ${seats}`
      : `${vendor}: ${used} of ${seats} used, ${inUnit("USD", unused ?? 0)} unused`,
  );
  return (
    <Panel title="Who uses their seat" sub={`${summary.join(" · ")}.`}>
      <DataTable
        label="Use of seats"
        columns={USED_COLUMNS}
        rows={data.seats}
        rowKey={["person", "vendor", "plan"]}
      />
    </Panel>
  );
}

const noWorth = () => ({ unknown: "It has no worth that is used up." });
type Commitment = CommitmentView & Partial<Pick<CommitmentUse["data"][number], "covered_usd" | "left_usd">>;

const COMMITMENTS: ResourceFacts<Commitment> = {
  path: "/admin/v1/commitments",
  title: "Commitments and credits",
  noun: "commitment",
  sub: "What is paid for use beforehand. Reports spread it over the use that it covers, as the effective cost.",
  columns: {
    name: text("Name", ({ name }) => name),
    paid: money("Paid", ({ amount_usd }) => amount_usd),
    kind: text("Kind", ({ kind }) => kind),
    covers: text("Covers", ({ provider, models }) => `${provider} ${models?.join(", ") ?? ""}`),
    from: day("From", ({ effective_from: from }) => from),
    to: day("Until", ({ effective_to: to }) => to),
    covered: money("Covered", ({ covered_usd = "0" }) => covered_usd),
    left: money("Left", ({ left_usd }) => left_usd, noWorth),
  },
  form: COMMITMENT,
  empty: "Add commitments, provisioned throughput and prepaid credits to see what is left of them.",
  removal: { verb: "Delete", effect: "The effective cost of its time is the cost again." },
};

/** Seats and commitments: what is paid whatever is used. */
export function PaidAnyway({ month }: { month: string }) {
  const { data } = useJson<CommitmentUse>(["commitments", "use"], "/admin/v1/commitments/use");
  const used = new Map(data?.data.map((it) => [it.id, it]));
  const pick = (rows: readonly Commitment[]) => rows.map((row) => ({ ...row, ...used.get(row.id) }));
  return (
    <>
      <UsedSeats month={month} />
      <ResourcePanel facts={SEATS} />
      <ResourcePanel facts={{ ...COMMITMENTS, pick }} />
    </>
  );
}
