import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { linkRemedy, linkTone, linkWord } from "../parts/link-words.ts";
import { Money } from "../parts/money.tsx";
import { Panel } from "../parts/page-head.tsx";
import { PullRequestName } from "../parts/pull-request-name.tsx";

/** The latest pull requests with calls of one's own, and what these cost. */
export function OwnPullRequests({ items }: { items: readonly PullRequestView[] }) {
  return (
    <Panel title="My pull requests" sub="The latest ones with your calls, and the cost of your part.">
      {items.map(({ id, repository, number, link, ...it }) => (
        <div className="bar-row" key={id}>
          <PullRequestName repository={repository} number={number} />
          <span className={`tag ${linkTone(link)}`}>{linkWord(link)}</span>
          <span className="number">
            <Money
              value={it.session_cost_usd}
              floor={it.session_cost_is_lower_bound}
              {...(linkRemedy(link) !== null && { unknown: linkRemedy(link) ?? "" })}
            />
          </span>
        </div>
      ))}
      {items.length === 0 && <p className="mute">No pull request names a session of yours yet.</p>}
    </Panel>
  );
}
