import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Page } from "#shared/admin/fields.ts";
import type { PullRequestPage as Details, PullRequestView } from "#shared/admin/records.ts";
import { dayIn } from "#shared/time-zone.ts";
import { getJson, queryOf, sendJson } from "../data/api.ts";
import { mayAs, useMe } from "../data/me.ts";
import { longTimeGroup } from "../parts/dates.ts";
import { Foreign, plainName } from "../parts/foreign.tsx";
import { counted } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { dayTimes } from "../parts/records-link.tsx";
import { Answered, Empty, Fault } from "../parts/states.tsx";
import { githubUrl } from "./link-words.ts";
import { PullRequestFacts } from "./pull-request-facts.tsx";
import { type Sum, sumsBy, useSessionCalls } from "./session-calls.ts";
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
          Open on GitHub
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

/** An administrator accepts the session that an outside author claims. */
function AcceptClaim({ id }: { id: string }) {
  const { role } = useMe();
  const client = useQueryClient();
  const accept = useMutation({
    mutationFn: () => sendJson(`/admin/v1/pull-requests/${id}/accept`, { method: "POST" }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["pull-request"] }),
  });
  if (!mayAs(role, "administrator")) return null;
  return (
    <>
      {accept.error && <Fault error={accept.error} />}
      <Button size="xs" loading={accept.isPending} onClick={() => accept.mutate()}>
        Accept its session
      </Button>
    </>
  );
}

/** The session's cost by model and by day. */
function SessionCosts({ session }: { session: string }) {
  const calls = useSessionCalls(session);
  const { report_time_zone: zone } = useMe();
  return (
    <Answered query={calls} height={160}>
      {({ data, has_more: hasMore }) => {
        const models = sumsBy(data, ({ model }) => model ?? "no model").toSorted(
          (a, b) => Number(b.usd) - Number(a.usd),
        );
        const days = sumsBy(data, ({ started_at: at }) => dayIn(Date.parse(at), zone)).toSorted((a, b) =>
          a.name.localeCompare(b.name),
        );
        return (
          <>
            <div className="two">
              <Sums title="Cost by model" sums={models} filter={(model) => ({ session, model })} />
              <Sums
                title="Cost by day"
                sums={days}
                filter={(day) => ({ session, ...dayTimes(day, zone) })}
                word={(day) => longTimeGroup("day", day)}
              />
            </div>
            {hasMore && (
              <p className="mute small">Of the latest {counted(data.length, "call")} of its own session.</p>
            )}
          </>
        );
      }}
    </Answered>
  );
}

type SumsProps = {
  title: string;
  sums: readonly Sum[];
  filter: (name: string) => Record<string, string>;
  word?: (name: string) => string;
};

const Sums = ({ title, sums, filter, word = (name) => name }: SumsProps) => (
  <Panel title={title}>
    {sums.map(({ name, calls, usd, isFloor }) => (
      <div className="bar-row" key={name}>
        <Link to="/requests" search={filter(name)}>
          <Foreign text={word(name)} />
        </Link>
        <span className="number">
          <Money value={usd} floor={isFloor} />
        </span>
        <span className="number small mute">{counted(calls, "call")}</span>
      </div>
    ))}
    {sums.length === 0 && <p className="mute">No recorded calls.</p>}
  </Panel>
);
