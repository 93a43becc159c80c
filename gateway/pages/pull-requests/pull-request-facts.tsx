import { Link } from "@tanstack/react-router";
import type { PullRequestPage } from "#shared/admin/pull-requests.ts";
import { Foreign } from "../parts/foreign.tsx";
import { count, counted } from "../parts/format.ts";
import { linkTone, linkWord } from "../parts/link-words.ts";
import { Moment } from "../parts/moment.tsx";
import { Money } from "../parts/money.tsx";
import { Fact } from "../parts/page-head.tsx";
import { SessionLink } from "../sessions/session-link.tsx";

/** What is known of it at a glance. */
export function PullRequestFacts({ details }: { details: PullRequestPage }) {
  const { session } = details;
  return (
    <>
      <div className="tiles">
        <Fact name={details.whole ? "Cost" : "Cost of your part"}>
          <strong>
            <Money
              value={details.session_cost_usd}
              floor={details.session_cost_is_lower_bound}
              unknown={details.reason}
            />
          </strong>
          <SubscriptionLane lane={details.session_subscription} />
        </Fact>
        <Fact name={details.whole ? "Calls" : "Your calls"}>
          <strong>
            {session === null ? (
              "–"
            ) : (
              <Link to="/requests" search={{ session }}>
                {count(details.session_requests)}
              </Link>
            )}
          </strong>
        </Fact>
        <Fact name="State">
          <span>
            {details.state} <span className={`tag ${linkTone(details.link)}`}>{linkWord(details.link)}</span>
            {details.reverted && <span className="tag bad">reverted</span>}
          </span>
        </Fact>
        <Fact name={details.merged_at === null ? "Opened" : "Merged"}>
          <Moment
            at={details.merged_at ?? details.opened_at}
            form="long"
            unknown="GitHub has not said when."
          />
        </Fact>
      </div>
      <dl className="facts panel">
        <dt>Author</dt>
        <dd>
          {details.author === null ? (
            "–"
          ) : (
            <Link to="/pull-requests" search={{ author: details.author }}>
              <Foreign text={details.author} />
            </Link>
          )}
          {details.author_is_bot && <span className="tag">bot</span>}
        </dd>
        <dt>Session</dt>
        <dd>
          <SessionLink session={session} none="Its body names no session." />
        </dd>
        {details.settlement && <Settlement {...details.settlement} />}
        {details.session_owners.length > 0 && (
          <>
            <dt>Made by</dt>
            <dd>
              {details.session_owners.map((owner) => (
                <div key={owner}>
                  <Foreign text={owner} />
                </div>
              ))}
            </dd>
          </>
        )}
        <Reverts words="Reverted by" reverts={details.reverted_by} repository={details.repository} />
        <Reverts words="Reverts" reverts={details.reverts} repository={details.repository} />
      </dl>
    </>
  );
}

/** Whether its cost can still change, and until when its calls reach. */
const Settlement = ({ settled, reasons, data_until: until }: NonNullable<PullRequestPage["settlement"]>) => (
  <>
    <dt>Settled</dt>
    <dd>
      {settled ? "Yes" : "No, its cost can still change"}
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
    </dd>
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

type RevertsProps = { words: string; reverts: PullRequestPage["reverts"]; repository: string | null };

function Reverts({ words, reverts, repository }: RevertsProps) {
  const [owner = "", repo = ""] = repository?.split("/") ?? [];
  if (reverts.length === 0) return null;
  return (
    <>
      <dt>{words}</dt>
      <dd>
        {reverts.map(({ id, number, stands }) => (
          <div key={id}>
            <Link
              to="/pull-requests/$owner/$repo/$n"
              params={{ owner, repo, n: String(number) }}
              className="link"
            >
              #{number}
            </Link>
            {!stands && <span className="mute"> (itself reverted)</span>}
          </div>
        ))}
      </dd>
    </>
  );
}
