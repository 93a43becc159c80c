import { checkText } from "./check-text.ts";
import type { CheckDue } from "./due.ts";
import type { Settled, Shown } from "./feedback-store.ts";
import { type JobRun, ONCE, unlessGone } from "./job-run.ts";

const NAME = "Gateway-Session";

/**
 * Shows the check run of a pull request's present head: made once per head, then edited. Before one is made GitHub is
 * asked for it, so that a process that died after making one leaves no second.
 */
export async function showCheck(job: JobRun, due: CheckDue, before: Shown): Promise<Settled> {
  const { checks, pulls } = job.octokit.rest;
  const place = { owner: due.owner, repo: due.repo };
  const { data } = await pulls.get({ ...place, pull_number: due.number });
  const headSha = data.head.sha;
  const settled = (remoteId: number) => ({ remoteId, headSha, seenAt: due.bodyAt, shown: due.wanted });
  const known = before.headSha === headSha ? before.remoteId : null;
  if (known !== null && before.shown === due.wanted) return settled(known);

  const said = outputOf(due);
  const remoteId = known ?? (await findCheck(job, due, headSha));
  if (remoteId !== null) {
    const edited = await unlessGone(checks.update({ ...place, ...said, check_run_id: remoteId }));
    if (edited) return settled(edited.data.id);
  }
  job.held();
  const made = await checks.create({
    ...place,
    ...said,
    ...ONCE,
    name: NAME,
    head_sha: headSha,
    external_id: externalId(due),
  });
  return settled(made.data.id);
}

function outputOf(due: CheckDue) {
  const { conclusion, title, summary } = checkText(due);
  return { status: "completed" as const, conclusion, output: { title, summary } };
}

const externalId = ({ repositoryId, number }: CheckDue): string => `tallygate:${repositoryId}#${number}`;

async function findCheck({ appId, octokit }: JobRun, due: CheckDue, ref: string): Promise<number | null> {
  const runs = await octokit.paginate(octokit.rest.checks.listForRef, {
    owner: due.owner,
    repo: due.repo,
    ref,
    check_name: NAME,
    app_id: appId,
    per_page: 100,
  });
  return runs.find((it) => it.external_id === externalId(due))?.id ?? null;
}
