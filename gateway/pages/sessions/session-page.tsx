import { Link, useParams } from "@tanstack/react-router";
import type { RequestView } from "#shared/admin/records.ts";
import { type Columns, cell, figure } from "../parts/columns.tsx";
import { CostParts } from "../parts/cost-parts.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { count, counted, inUnit } from "../parts/format.ts";
import { LinkTag } from "../parts/link-words.tsx";
import { Answered, EmptyPanel, PageHead, Panel, Tiles } from "../parts/page.tsx";
import { PullRequestName } from "../parts/pull-request-name.tsx";
import { ListNote } from "../parts/scope-note.tsx";
import { CopyId, shortId } from "../parts/short-id.tsx";
import { Foreign, Moment, Money } from "../parts/values.tsx";
import { cumulative, sumsBy, useCallsOf } from "./session-calls.ts";
import { usePullRequestsOf } from "./session-link.tsx";

/** One session: its pull requests, what its calls cost one after the other, by model and by sub-agent. */
export function SessionPage() {
  const { session = "" } = useParams({ strict: false });
  const calls = useCallsOf(session);
  return (
    <>
      <PageHead
        title={`Session ${shortId(session)}`}
        sub={
          <>
            <Link to="/requests" search={{ session }}>
              Its requests
            </Link>{" "}
            · <Foreign text={session} whole /> <CopyId id={session} what="session's id" />
          </>
        }
      />
      <ListNote />
      <Answered query={calls} height={480}>
        {({ data, has_more: isCut }) =>
          data.length === 0 ? <NoCalls /> : <Whole session={session} calls={data} isCut={isCut} />
        }
      </Answered>
    </>
  );
}

const NoCalls = () => (
  <EmptyPanel title="No calls of this session">
    None was recorded here, or they are someone else's, or older than records are kept.
  </EmptyPanel>
);

type WholeProps = { session: string; calls: readonly RequestView[]; isCut: boolean };

function Whole({ session, calls, isCut }: WholeProps) {
  const steps = cumulative(calls);
  const [first] = steps;
  const last = steps.at(-1);
  const sum = (name: "input_tokens" | "cache_read_tokens" | "output_tokens") =>
    calls.reduce((total, call) => total + (call[name] ?? 0), 0);
  const tokens = (name: Parameters<typeof sum>[0]) => (
    <span title={count(sum(name))} data-exact={sum(name)}>
      {inUnit("tokens", sum(name))}
    </span>
  );
  return (
    <>
      <Tiles
        of={{
          Cost: (
            <strong>
              <Money value={last?.usd ?? null} floor={isCut || (last?.isFloor ?? false)} />
            </strong>
          ),
          Calls: <strong>{isCut ? `${count(calls.length)}+` : count(calls.length)}</strong>,
          Tokens: (
            <span>
              {tokens("input_tokens")} in, {tokens("cache_read_tokens")} of which from cache,{" "}
              {tokens("output_tokens")} out
            </span>
          ),
          "From, to": (
            <span>
              <Moment at={first?.call.started_at ?? null} /> – <Moment at={last?.call.started_at ?? null} />
            </span>
          ),
        }}
      />
      <PullRequests session={session} />
      <div className="two">
        <CostParts
          title="Cost by model"
          parts={partsBy(calls, ({ model }) => model ?? "no model")}
          filter={(model) => ({ session, model })}
        />
        <CostParts
          title="Cost by agent"
          parts={partsBy(calls, agentOf)}
          filter={() => null}
          word={(agent) => (agent === MAIN ? "Main agent" : `Sub-agent ${agent}`)}
        />
      </div>
      <Calls steps={steps} />
      {isCut && (
        <p className="mute small">
          Of the latest {counted(calls.length, "call")}; earlier ones are not counted.
        </p>
      )}
    </>
  );
}

/** The costliest first. */
const partsBy = (calls: readonly RequestView[], nameOf: (call: RequestView) => string) =>
  sumsBy(calls, nameOf)
    .toSorted((a, b) => Number(b.usd) - Number(a.usd))
    .map(({ name, usd, isFloor, calls: requests }) => ({
      name,
      cost_usd: usd,
      is_lower_bound: isFloor,
      requests,
    }));

const MAIN = "";
const agentOf = ({ agent_id: agent }: RequestView): string => agent ?? MAIN;

function PullRequests({ session }: { session: string }) {
  const { data } = usePullRequestsOf(session);
  return (
    <Panel title="Pull requests">
      {data?.data.map(({ id, repository, number, link, merged_at: merged }) => (
        <div className="bar-row" key={id}>
          <PullRequestName repository={repository} number={number} />
          <LinkTag link={link} />
          <span className="mute small">
            <Moment at={merged} form="day" unknown="It is not merged." />
          </span>
        </div>
      ))}
      {data?.data.length === 0 && <p className="mute">No pull request names this session.</p>}
    </Panel>
  );
}

type Step = ReturnType<typeof cumulative>[number];

const COLUMNS: Columns<Step> = {
  time: cell("Time", ({ call }) => (
    <Link to="/requests/$id" params={{ id: call.id }} className="row-link">
      <Moment at={call.started_at} />
    </Link>
  )),
  cost: figure("Cost", ({ call }) => (
    <Money value={call.cost_usd} floor={call.partial} ceiling={call.ceiling} />
  )),
  together: figure("So far", ({ usd, isFloor }) => <Money value={usd} floor={isFloor} />),
  model: cell("Model", ({ call }) => (
    <>
      {call.model === null ? "–" : <Foreign text={call.model} />}
      {call.agent_id !== null && (
        <small className="mute">
          sub-agent <Foreign text={call.agent_id} />
        </small>
      )}
    </>
  )),
  tokens: figure(
    "Tokens",
    ({ call }) => `${count(call.input_tokens ?? 0)} in, ${count(call.output_tokens ?? 0)} out`,
  ),
};

const Calls = ({ steps }: { steps: readonly Step[] }) => (
  <DataTable
    label="Calls, one after the other"
    columns={COLUMNS}
    rows={steps}
    rowKey={({ call }) => call.id}
    rowHeight={54}
  />
);
