import type { AnyElysia } from "elysia";
import type { RepriceKind } from "#drizzle/schema/reprice-jobs.ts";
import { pageOf, readEnd, readInstant } from "#shared/admin/fields.ts";
import {
  DifferenceView,
  RepriceBody,
  RepriceJobView,
  RepriceView,
  RestateBody,
  RestatedJob,
  RestateJobView,
} from "#shared/admin/prices.ts";
import { formatDecimal, parseDecimal } from "#shared/decimal.ts";
import { viewAs } from "#shared/view-as.ts";
import { GatewayError, orNotFound, refuse } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import { differencesOf, findJob, listJobs, newCostOf, type RepriceJobRow } from "../repricing/job-rows.ts";
import type { Selection } from "../repricing/priced-again.ts";
import { cancelJob, doRepriceJob, insertJob, type NewJob } from "../repricing/reprice-jobs.ts";
import { audited, type Reader } from "../stores/change.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute, LIST_QUERY } from "./documented.ts";
import { idParameter, pageById } from "./list.ts";

/** Maximum number of records priced before the answer; larger repricings run as a background job. */
const AT_ONCE_MAX = 5000;

const docs = adminRoute("prices");

const JOB_DOCS = {
  reprice: {
    start: docs({
      summary: "Price unpriced records",
      description:
        "Uses their stored counts and the prices that applied at the time of the call. Priced records keep their price, and records of closed months stay as they are. More than 5,000 records are a job: 202, with its address in `location`. 409 if all months of the window are closed.",
      body: RepriceBody,
      answers: { 200: RepriceView, 202: RepriceJobView },
    }),
    view: RepriceJobView,
    noun: "repricing",
  },
  restate: {
    start: docs({
      summary: "Price records again, with the prices now known for their day",
      description:
        "A dry run shows the difference by month, team and model, and writes nothing. Records keep their versions. What a provider reported stays the cost. Records of closed months stay as they are; 409 if all months of the window are closed. Up to 5,000 records are done before the answer; more are a job that continues after a restart: 202, with its address in `location`.",
      body: RestateBody,
      answers: { 200: RestateJobView, 202: RestateJobView },
    }),
    view: RestateJobView,
    noun: "restatement",
  },
} as const;

/** `/admin/v1/prices/reprice` or `/restate`: starts jobs that price records, lists, shows and cancels them. */
export const adminRepricing = (deps: AdminDeps, kind: RepriceKind): AnyElysia => {
  const { start, view, noun } = JOB_DOCS[kind];
  const show = async (job: RepriceJobRow) =>
    kind === "reprice"
      ? viewOf(job)
      : { ...viewOf(job), differences: await readDatabase(deps, (db) => differencesIn(db, job)) };
  const existing = async (reader: Reader, text: string) => {
    return orNotFound(await findJob(reader, kind, idParameter(text)));
  };
  return adminPart(deps, `prices/${kind}`)
    .post(
      "",
      async ({ request, origin }) => {
        const body = await readJson(deps, request, kind === "reprice" ? RepriceBody : RestateBody);
        const job = await started(deps, {
          selection: selectionOf(kind, body),
          dryRun: body.dry_run ?? false,
          origin,
        });
        const shown = await show(job);
        const headers = { location: `/admin/v1/prices/${kind}/${job.id}` };
        if (job.finishedAt === null) return Response.json(shown, { status: 202, headers });
        return kind === "restate" ? shown : viewAs(RepriceView, repricedOf(job));
      },
      { ...start },
    )
    .get("", ({ request }) => pageById(deps, request, { list: listJobs(kind), view: viewOf }), {
      ...docs({
        summary: `List jobs of ${noun}, newest first`,
        query: LIST_QUERY,
        answers: { 200: pageOf(view) },
      }),
    })
    .get("/:id", async ({ params }) => show(await readDatabase(deps, (db) => existing(db, params.id))), {
      ...docs({ summary: `Read how far a job of ${noun} is`, answers: { 200: view } }),
    })
    .post(
      "/:id/cancel",
      ({ params, origin }) =>
        audited(deps.database, origin, async (tx, audit) => {
          const { id } = await existing(tx, params.id);
          const job = await cancelJob(tx, id, deps.clock.now());
          if (!job) throw new GatewayError("conflict", "The job is finished.");
          const after = viewOf(job);
          await audit({ action: `${noun}.cancelled`, subject: `${job.from} to ${job.to}`, after });
          return after;
        }),
      {
        ...docs({
          summary: `Cancel a job of ${noun}`,
          description:
            "What it has priced stays priced. Both sums are in the audit log. 422 if it is finished.",
          answers: { 200: view },
        }),
      },
    );
};

const WAIT = { tries: 200, ms: 50 };

/** Starts a job, and waits for it if it is small. @throws GatewayError not_open */
async function started(deps: AdminDeps, asked: NewJob): Promise<RepriceJobRow> {
  await awaitSettled(deps);
  const job = await insertJob(deps.database, asked);
  if (!job) throw new GatewayError("not_open");
  if (job.records > AT_ONCE_MAX) return job;
  let current: RepriceJobRow | null = job;
  const isTaken = !(await doRepriceJob(deps, { id: job.id }));
  for (let tries = 0; current?.finishedAt === null && tries < WAIT.tries; tries++) {
    // Another gateway may have taken it first.
    if (tries > 0 || isTaken) await Bun.sleep(WAIT.ms);
    current = await readDatabase(deps, (db) => findJob(db, job.kind, job.id));
  }
  return current ?? job;
}

function selectionOf(kind: RepriceKind, { from, to, ...of }: RestateBody): Selection {
  const fromMs = readInstant(from) ?? 0;
  const toMs = readEnd(to) ?? 0;
  if (fromMs >= toMs) refuse("/to: Expected a time after /from.");
  const window = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
  return { kind, ...window, provider: of.provider ?? null, model: of.model ?? null };
}

const stateOf = ({ finishedAt, cancelledAt }: RepriceJobRow): RepriceJobView["state"] => {
  if (finishedAt === null) return "running";
  return cancelledAt === null ? "done" : "cancelled";
};

const repricedOf = (job: RepriceJobRow) => ({
  ...job,
  state: stateOf(job),
  unpricedRecords: job.records,
  restatedRecords: job.repricedRecords,
  oldCostUsd: formatDecimal(parseDecimal(job.oldCostUsd)),
  newCostUsd: newCostOf(job),
  differenceUsd: formatDecimal(parseDecimal(job.addedCostUsd)),
});

const viewOf = (job: RepriceJobRow): RepriceJobView | RestateJobView =>
  job.kind === "reprice" ? viewAs(RepriceJobView, repricedOf(job)) : viewAs(RestatedJob, repricedOf(job));

const differencesIn = async (reader: Reader, { id }: RepriceJobRow): Promise<DifferenceView[]> =>
  (await differencesOf(reader, id)).map((row) =>
    viewAs(DifferenceView, {
      ...row,
      team: row.team || null,
      oldCostUsd: formatDecimal(parseDecimal(row.oldCostUsd)),
      newCostUsd: formatDecimal(parseDecimal(row.newCostUsd)),
      differenceUsd: formatDecimal(parseDecimal(row.differenceUsd)),
    }),
  );
