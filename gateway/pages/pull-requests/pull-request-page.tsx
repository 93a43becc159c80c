import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Page } from "#shared/admin/fields.ts";
import type { PullRequestPage as Details, PullRequestView } from "#shared/admin/records.ts";
import { getJson, queryOf } from "../data/api.ts";
import { plainName } from "../parts/foreign.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { Answered, Empty } from "../parts/states.tsx";
import { AcceptClaim } from "./accept-claim.tsx";
import { githubUrl } from "./link-words.ts";
import { PullRequestFacts } from "./pull-request-facts.tsx";
import { SessionCosts } from "./session-costs.tsx";
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
  const { owner = "", repo = "", n = "" } = useParams({ strict: false });
  const repository = `${owner}/${repo}`;
  const query = useQuery({
    queryKey: ["pull-request", repository, n],
    queryFn: ({ signal }) => findByName(repository, n, signal),
    refetchInterval: 5_000,
  });
  return (
    <>
      <PageHead
        title="Pull requests"
        sub={
          <>
            <Link to="/pull-requests">All</Link> ·{" "}
            <Link to="/pull-requests" search={{ repository }}>
              <bdi>{plainName(repository)}</bdi>
            </Link>{" "}
            · #{plainName(n)}
          </>
        }
      >
        <Button
          component="a"
          variant="default"
          size="xs"
          href={githubUrl(repository, Number(n))}
          rel="noreferrer"
        >
          Open at GitHub
        </Button>
      </PageHead>
      <Answered query={query} height={600}>
        {(details) => (details ? <Whole details={details} /> : <NotSeen />)}
      </Answered>
    </>
  );
}

const NotSeen = () => (
  <div className="panel">
    <Empty title="The GitHub App has not seen this pull request">
      It may be older than the App's installation, or in a repository that the App cannot see.
    </Empty>
  </div>
);

function Whole({ details }: { details: Details }) {
  return (
    <>
      <PullRequestFacts details={details} />
      <Panel title="Why" sub={plainName(details.reason)}>
        {details.remedy !== null && <p>{plainName(details.remedy)}</p>}
        {details.link === "claimed" && <AcceptClaim id={details.id} />}
        {details.findings.length > 0 && (
          <ul>
            {details.findings.map(({ code, text }) => (
              <li key={code}>{plainName(text)}</li>
            ))}
          </ul>
        )}
      </Panel>
      {details.session !== null && (
        <>
          <SessionCosts session={details.session} />
          <Timeline details={details} session={details.session} />
        </>
      )}
    </>
  );
}
