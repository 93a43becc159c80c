import { storedEmail } from "#shared/admin/people.ts";
import {
  CommitmentBody,
  CommitmentPatch,
  CommitmentUse,
  CommitmentView,
  SeatBody,
  SeatPatch,
  SeatsRead,
  SeatUse,
  SeatView,
} from "#shared/admin/seats.ts";
import { counted } from "#shared/plural.ts";
import { faultsOf, fits } from "#shared/schema.ts";
import { viewAs } from "#shared/view-as.ts";
import { csvRows } from "../bills/csv.ts";
import {
  COMMITMENTS,
  type CommitmentRow,
  commitmentUse,
  editedCommitment,
  editedSeat,
  importSeats,
  SEATS,
  type SeatFields,
  type SeatRow,
  seatUse,
} from "../bills/seats.ts";
import { refuse } from "../errors.ts";
import { requireKept } from "../export/focus-rows.ts";
import { readBody } from "../plugins/body.ts";
import { type AdminDeps, awaitSettled, readDatabase, saveChange } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { readParameters } from "./list.ts";
import { adminTerms } from "./terms.ts";

const docs = adminRoute("seats and commitments");
const CSV_BYTES_MAX = 4 * 1024 * 1024;

/** `/admin/v1/seats`: subscriptions of people, and who uses their seat. */
export const adminSeats = (deps: AdminDeps) =>
  adminTerms(deps, {
    noun: "seat",
    tag: "seats and commitments",
    words: { description: "A subscription of a person, paid by the month." },
    schemas: { body: SeatBody, patch: SeatPatch, view: SeatView },
    store: SEATS,
    patched: editedSeat,
    view: (row: SeatRow): SeatView => viewAs(SeatView, row),
  })
    .get(
      "/use",
      async ({ request }) => {
        const { month = deps.clock.now().toISOString().slice(0, 7), person } = readParameters(request, [
          "month",
          "person",
        ]);
        if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) refuse("month: Expected a month, such as 2026-11.");
        await awaitSettled(deps);
        const fromMs = Date.parse(`${month}-01`);
        await readDatabase(deps, () => requireKept(deps.database, { fromMs, toMs: fromMs }, "month"));
        return seatUse(deps.database, month, person === undefined ? null : storedEmail(person));
      },
      docs({
        summary: "Seats of a month and who used their seat",
        description:
          "Use is counted from calls on the subscription lane and from what agents report about themselves (POST /otel/v1/metrics), by the key's owner.",
        query: { month: "Such as 2026-11. Default: this month.", person: "One person's seats." },
        answers: { 200: SeatUse },
      }),
    )
    .post(
      "/import",
      async ({ request, origin }) => {
        const text = new TextDecoder().decode(await readBody(deps, request, { bytesMax: CSV_BYTES_MAX }));
        const wanted = seatsIn(text);
        return saveChange(deps, origin, async (tx, audit) => {
          const after = await importSeats(tx, wanted, deps.clock.now());
          await audit({ action: "seat.imported", subject: counted(wanted.length, "seat"), after });
          return after;
        });
      },
      docs({
        summary: "Import seats from CSV",
        description:
          "Columns are named as the members of a seat: person, vendor, plan, monthly_usd, effective_from, effective_to. A seat of the same person, vendor, plan and start is changed; none is deleted.",
        file: ["text/csv"],
        answers: { 200: SeatsRead },
      }),
    );

/** @throws GatewayError invalid_request that names the row and the column */
function seatsIn(text: string) {
  const seats: SeatFields[] = [];
  try {
    for (const fields of csvRows(text)) {
      const body = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
      if (fits(SeatBody, body)) seats.push(editedSeat(null, body));
      else {
        const [fault] = faultsOf(SeatBody, body);
        refuse(`Row ${seats.length + 2}${fault ? `, ${fault.path.slice(1)}: ${fault.message}` : ""}.`);
      }
    }
    return seats;
  } catch (cause) {
    if (cause instanceof RangeError) refuse(`Row ${seats.length + 2}: ${cause.message}.`);
    throw cause;
  }
}

/** `/admin/v1/commitments`: what is paid for use beforehand, and what is left of it. */
export const adminCommitments = (deps: AdminDeps) =>
  adminTerms(deps, {
    noun: "commitment",
    tag: "seats and commitments",
    words: {
      description:
        "A commitment or provisioned throughput, or a prepaid credit. Reports spread it over the use that it covers: `effective_cost_usd`.",
    },
    schemas: { body: CommitmentBody, patch: CommitmentPatch, view: CommitmentView },
    store: COMMITMENTS,
    patched: editedCommitment,
    view: (row: CommitmentRow): CommitmentView => viewAs(CommitmentView, row),
  }).get(
    "/use",
    async () => {
      await awaitSettled(deps);
      return { data: await commitmentUse(deps.database, deps.clock.now()) };
    },
    docs({ summary: "Commitments and credits, with what is left of them", answers: { 200: CommitmentUse } }),
  );
