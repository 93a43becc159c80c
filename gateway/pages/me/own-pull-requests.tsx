import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { LinkTag, linkRemedy } from "../parts/link-words.tsx";
import { Panel } from "../parts/page.tsx";
import { PullRequestName } from "../parts/pull-request-name.tsx";
import { Money } from "../parts/values.tsx";

type OwnPullRequestsProps = { items: readonly PullRequestView[]; isPart: boolean };

/** The latest pull requests of one's own. `isPart`: with the cost of one's own calls, not of all. */
export function OwnPullRequests({ items, isPart }: OwnPullRequestsProps) {
  return (
    <Panel
      title="My pull requests"
      sub={
        isPart
          ? "The latest ones with your calls, and the cost of your part."
          : "The latest ones that you opened, and their cost."
      }
    >
      {items.map(({ id, repository, number, link, ...it }) => (
        <div className="bar-row" key={id}>
          <PullRequestName repository={repository} number={number} />
          <LinkTag link={link} />
          <span className="number">
            <Money
              value={it.session_cost_usd}
              floor={it.session_cost_is_lower_bound}
              {...(linkRemedy(link) !== null && { unknown: linkRemedy(link) ?? "" })}
            />
          </span>
        </div>
      ))}
      {items.length === 0 && (
        <p className="mute">{isPart ? "No pull request names a session of yours yet." : "None yet."}</p>
      )}
    </Panel>
  );
}
