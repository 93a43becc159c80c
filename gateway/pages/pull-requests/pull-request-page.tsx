import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Page } from "#shared/admin/fields.ts";
import type { PullRequestPage as Details, PullRequestView } from "#shared/admin/pull-requests.ts";
import { getJson, postJson, queryOf } from "../data/api.ts";
import { mayAs, useMe } from "../data/me.ts";
import { Act } from "../parts/act.tsx";
import { CostParts, PartFigures } from "../parts/cost-parts.tsx";
import { longTimeGroup } from "../parts/dates.ts";
import { githubUrl } from "../parts/link-words.tsx";
import { Answered, Empty, PageHead, Panel } from "../parts/page.tsx";
import { dayTimes } from "../parts/records-link.tsx";
import { Foreign, Moment, plainName, withCode } from "../parts/values.tsx";
import { SessionLink } from "../sessions/session-link.tsx";
import { NotFound } from "../shell/no-page.tsx";
import { PullRequestFacts } from "./pull-request-facts.tsx";
import { Timeline } from "./timeline.tsx";

const LIST = "/admin/v1/pull-requests";

/** Its id, by the name that people know it by. */
async function findByName(repository: string, number: string, signal: AbortSignal): Promise<Details | null> {
  const { data } = await getJson<Page<PullRequestView>>(
    `${LIST}${queryOf({ repository, number, limit: 1 })}`,
    signal,
  );
  const [found] = data;
  return found ? await getJson<Details>(`${LIST}/${found.id}`, signal) : null;
}

/** One pull request: what it cost, why it is joined or not, and what happened in its session. */
export function PullRequestPage() {
  const { n = "" } = useParams({ strict: false });
  return /^\d+$/.test(n) ? <Numbered n={n} /> : <NotFound />;
}

function Numbered({ n }: { n: string }) {
  const { owner = "", repo = "" } = useParams({ strict: false });
  const repository = `${owner}/${repo}`;
  const query = useQuery({
    queryKey: ["pull-request", repository, n],
    queryFn: ({ signal }) => findByName(repository, n, signal),
    refetchInterval: 5_000,
  });
  return (
    <>
      <PageHead
        title={`${plainName(repository)} #${plainName(n)}`}
        sub={
          <>
            <Link to="/pull-requests">All pull requests</Link> ·{" "}
            <Link to="/pull-requests" search={{ repository }}>
              those of <bdi>{plainName(repository)}</bdi>
            </Link>
          </>
        }
      >
        <Button component="a" size="xs" href={githubUrl(repository, Number(n))} rel="noreferrer">
          Open on GitHub
        </Button>
      </PageHead>
      <Answered query={query} height={600}>
        {(details) => (details ? <Whole details={details} /> : <NotSeen />)}
      </Answered>
    </>
  );
}

/** A viewer who sees everything learns that it does not exist; for others it may be someone else's. */
function NotSeen() {
  const { role, team } = useMe();
  const seesAll = role === "administrator" || (role === "manager" && team === null);
  return (
    <div className="panel">
      {seesAll ? (
        <Empty title="The GitHub App has not seen this pull request">
          It may be older than the App's installation, or in a repository that the App cannot see.
        </Empty>
      ) : (
        <Empty
          title={
            role === "manager" ? "This is not a pull request of your team" : "This is not your pull request"
          }
        >
          {role === "manager"
            ? "It is another team's, or the GitHub App has not seen it. Its author, who made its calls, and their managers see it."
            : "It is someone else's, or the GitHub App has not seen it. You see those that you opened or made calls for. If you opened it, ask an administrator to enter your GitHub login."}
        </Empty>
      )}
    </div>
  );
}

function Whole({ details }: { details: Details }) {
  return (
    <>
      {!details.whole && (
        <p className="note" role="note">
          This is another team's or another person's pull request. You see the part that you or your team
          made; its author, the owner of most of its calls and their managers see all of it.
        </p>
      )}
      <PullRequestFacts details={details} />
      <Panel title="Why" sub={withCode(details.reason)}>
        {details.remedy !== null && <p>{withCode(details.remedy)}</p>}
        {details.link === "claimed" && <AcceptClaim id={details.id} />}
        {details.findings.length > 0 && (
          <ul>
            {details.findings.map(({ code, text }) => (
              <li key={code}>{withCode(text)}</li>
            ))}
          </ul>
        )}
      </Panel>
      {details.session !== null && (
        <>
          {details.whole && <SessionCosts details={details} />}
          <Timeline details={details} session={details.session} />
        </>
      )}
    </>
  );
}

/** An administrator accepts the session that an outside author claims. */
function AcceptClaim({ id }: { id: string }) {
  const { role } = useMe();
  const client = useQueryClient();
  const accept = async () => {
    await postJson(`${LIST}/${id}/accept`);
    await client.invalidateQueries({ queryKey: ["pull-request"] });
  };
  if (!mayAs(role, "administrator")) return null;
  return (
    <Act variant="filled" size="xs" act={accept}>
      Accept its session
    </Act>
  );
}

/** Its cost by session, model and day: each adds up to the whole, linked sessions included. */
function SessionCosts({ details }: { details: Details }) {
  const { sessions, models, days } = details;
  const { report_time_zone: zone } = useMe();
  const [only, ...others] = sessions;
  // Only the calls of one session can be listed.
  const session = others.length === 0 && only ? only.session : null;
  return (
    <>
      <div className="two">
        <CostParts
          title="Cost by model"
          parts={models}
          filter={(model) => (session ? { session, model } : null)}
        />
        <CostParts
          title="Cost by day"
          parts={days}
          filter={(day) => (session ? { session, ...dayTimes(day, zone) } : null)}
          word={(day) => longTimeGroup("day", day)}
        />
      </div>
      <Stretches details={details} />
      <Panel title="Sessions" sub="Each session that counts, and who linked it.">
        {sessions.map(({ session: name, declarer, link, ...part }) => (
          <div className="bar-row" key={`${name} ${declarer}`}>
            <span>
              <SessionLink session={name} />
              <span className="small mute">
                {declarer === null ? " named by the pull request" : " linked by "}
                {declarer !== null && <Foreign text={declarer} />}
                {link && (
                  <>
                    {" "}
                    with <Foreign text={link.client} />
                    {link.branch !== null && " on "}
                    {link.branch !== null && <Foreign text={link.branch} />}
                    {link.clone !== null && ", clone "}
                    {link.clone !== null && <Foreign text={link.clone} />}, <Moment at={link.declared_at} />
                  </>
                )}
              </span>
            </span>
            <PartFigures part={part} />
          </div>
        ))}
        <p className="mute small">
          A session that an agent began with <code>/clear</code> is here once the agent committed or pushed in
          it.
        </p>
      </Panel>
    </>
  );
}

/** All calls of its sessions by the branch that they worked on, and for which pull request they count. */
function Stretches({ details: { id, stretches } }: { details: Details }) {
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
