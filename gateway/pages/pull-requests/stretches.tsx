import type { PullRequestPage } from "#shared/admin/pull-requests.ts";
import { Foreign } from "../parts/foreign.tsx";
import { Panel } from "../parts/page-head.tsx";
import { PartFigures } from "./part-figures.tsx";

/** All calls of its sessions by the branch that they worked on, and for which pull request they count. */
export function Stretches({ details: { id, stretches } }: { details: PullRequestPage }) {
  if (stretches.length === 0) return null;
  return (
    <Panel title="Branches" sub="What its sessions worked on. Each call counts for one pull request at most.">
      {stretches.map(({ repository, branch, pull_request: of, ...part }) => (
        <div className="bar-row" key={`${repository} ${branch} ${of}`}>
          <span>
            {branch === null ? "no branch declared" : <Foreign text={branch} />}
            <span className="small mute">
              {repository !== null && " in "}
              {repository !== null && <Foreign text={repository} />}
              {of === null
                ? ", for no pull request"
                : of === id
                  ? ", for this one"
                  : `, for #${of.split("-")[1]}`}
            </span>
          </span>
          <PartFigures part={part} />
        </div>
      ))}
    </Panel>
  );
}
