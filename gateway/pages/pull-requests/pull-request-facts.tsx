import { Link } from "@tanstack/react-router";
import type { PullRequestPage } from "#shared/admin/pull-requests.ts";
import { count, counted } from "../parts/format.ts";
import { LinkTag } from "../parts/link-words.tsx";
import { Facts, Tiles } from "../parts/page.tsx";
import { PullRequestName } from "../parts/pull-request-name.tsx";
import { Foreign, Moment, Money } from "../parts/values.tsx";
import { SessionLink } from "../sessions/session-link.tsx";

/** What is known of it at a glance. */
export function PullRequestFacts({ details }: { details: PullRequestPage }) {
  const { session } = details;
  return (
    <>
      <Tiles
        of={{
          [details.whole ? "Cost" : "Cost of your part"]: (
            <>
              <strong>
                <Money
                  value={details.session_cost_usd}
                  floor={details.session_cost_is_lower_bound}
                  unknown={details.reason}
                />
              </strong>
              <SubscriptionLane lane={details.session_subscription} />
            </>
          ),
          [details.whole ? "Calls" : "Your calls"]: (
            <strong>
              {session === null ? (
                "–"
              ) : (
                <Link to="/requests" search={{ session }}>
                  {count(details.session_requests)}
                </Link>
              )}
            </strong>
          ),
          State: (
            <span>
              {details.state} <LinkTag link={details.link} />
              {details.reverted && <span className="tag bad">reverted</span>}
            </span>
          ),
          [details.merged_at === null ? "Opened" : "Merged"]: (
            <Moment
              at={details.merged_at ?? details.opened_at}
              form="long"
              unknown="GitHub has not said when."
            />
          ),
        }}
      />
      <Facts className="panel" of={factsOf(details)} />
    </>
  );
}

const factsOf = ({ author, session, settlement, session_owners: owners, ...details }: PullRequestPage) => ({
  Author: (
    <>
      {author === null ? (
        "–"
      ) : (
        <Link to="/pull-requests" search={{ author }}>
          <Foreign text={author} />
        </Link>
      )}
      {details.author_is_bot && <span className="tag">bot</span>}
    </>
  ),
  Session: <SessionLink session={session} none="Its body names no session." />,
  "Cost is final": settlement && <Settlement {...settlement} />,
  "Calls by":
    owners.length > 0 &&
    owners.map((owner) => (
      <div key={owner}>
        <Foreign text={owner} />
      </div>
    )),
  "Reverted by": revertsIn(details.reverted_by, details.repository),
  Reverts: revertsIn(details.reverts, details.repository),
});

/** Whether its cost can still change, and until when its calls reach. */
const Settlement = ({ settled, reasons, data_until: until }: NonNullable<PullRequestPage["settlement"]>) => (
  <>
    {settled ? "Yes" : "Not yet"}
    {until !== null && (
      <span className="mute">
        , latest call <Moment at={until} form="long" />
      </span>
    )}
    {reasons.map(({ code, text }) => (
      <div key={code} className="small mute">
        {text}
      </div>
    ))}
  </>
);

/** What a subscription paid, beside what was paid per call. */
function SubscriptionLane({ lane }: { lane: PullRequestPage["session_subscription"] }) {
  if (lane === null) return null;
  return (
    <div className="small mute">
      and {counted(lane.requests, "call")} on a subscription, list price{" "}
      <Money value={lane.list_usd} floor={lane.is_lower_bound} />
    </div>
  );
}

const revertsIn = (reverts: PullRequestPage["reverts"], repository: string | null) =>
  reverts.length > 0 &&
  reverts.map(({ id, number, stands }) => (
    <div key={id}>
      <PullRequestName repository={repository} number={number} isShort />
      {!stands && <span className="mute"> (itself reverted)</span>}
    </div>
  ));
