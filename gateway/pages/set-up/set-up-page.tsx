import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { FaultsOfApp, isInstalled, NextOfApp } from "../github/github-app.tsx";
import { ConnectAgent } from "../me/connect-agent.tsx";
import { Answered, PageHead } from "../parts/page.tsx";
import { SecretOnce } from "../settings/secret-once.tsx";
import { SET_UP, type SetUp } from "./set-up-state.ts";
import { JoinStep, KeyStep, ProviderStep, RouteStep, StampStep } from "./steps.tsx";

/** The way from an empty installation to the cost of a merged pull request; every step is done here and checks itself. */
export function SetUpPage() {
  const query = useQuery(SET_UP);
  return (
    <>
      <PageHead
        title="Set up"
        sub="Eight steps to the cost of a merged pull request. Each one is checked off automatically."
      />
      <Answered query={query} height={480}>
        {(setUp) => <Steps setUp={setUp} />}
      </Answered>
    </>
  );
}

function Steps({ setUp }: { setUp: SetUp }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const current = STEPS.find(({ isDone }) => !isDone(setUp))?.name;
  const open = chosen ?? current;
  return (
    <>
      {current === undefined && (
        <p className="page-sub">
          Everything is set up.{" "}
          <Link className="link" to="/overview">
            The Overview
          </Link>{" "}
          shows what a merged pull request costs.
        </p>
      )}
      <ol className="steps">
        {STEPS.map(({ name, text, to, isDone, body }, index) => (
          <li className="step" key={name} data-done={isDone(setUp)} data-open={name === open}>
            <span className="step-mark" aria-hidden="true">
              {isDone(setUp) ? "✓" : index + 1}
            </span>
            <div>
              <h2>
                <button
                  type="button"
                  className="plain-button"
                  aria-expanded={name === open}
                  onClick={() => setChosen(name === open ? "" : name)}
                >
                  {name}
                </button>
                <span className={isDone(setUp) ? "step-state" : "hidden-text"} role="status">
                  {isDone(setUp) ? "Done" : "Not yet"}
                </span>
              </h2>
              <p>
                {text} <Link to={to.path}>{to.name}</Link>
              </p>
              {name === open && body({ setUp, secret, made: setSecret })}
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}

type Body = { setUp: SetUp; secret: string | null; made: (secret: string | null) => void };

/** One step of the first set-up, which checks itself. */
type Step = {
  name: string;
  /** What it is for. */
  text: string;
  /** Where more of it is. */
  to: { path: string; name: string };
  isDone: (setUp: SetUp) => boolean;
  body: (given: Body) => ReactNode;
};

const STEPS: readonly Step[] = [
  {
    name: "Add a provider",
    text: "A vendor with its API key. Until then, the built-in provider echo answers.",
    to: { path: "/settings/providers", name: "All providers" },
    isDone: ({ vendors }) => vendors.length > 0,
    body: ({ setUp }) => <ProviderStep setUp={setUp} />,
  },
  {
    name: "Add a route",
    text: "A name for a kind of task, and the model that does it. Callers can also name a model directly.",
    to: { path: "/settings/routes", name: "All routes" },
    isDone: ({ hasRoute }) => hasRoute,
    body: ({ setUp }) => <RouteStep setUp={setUp} />,
  },
  {
    name: "Make a key",
    text: "A key identifies who makes a call. Give one to each person and each service.",
    to: { path: "/settings/keys", name: "All keys" },
    isDone: ({ hasKey }) => hasKey,
    body: ({ made }) => <KeyStep made={made} />,
  },
  {
    name: "Make the first call",
    text: "Choose your agent or SDK, and run its sample.",
    to: { path: "/requests", name: "All calls" },
    isDone: ({ hasCall }) => hasCall,
    body: ({ secret }) => (
      <>
        {secret !== null && <SecretOnce secret={secret} what="the key" />}
        <ConnectAgent {...(secret !== null && { secret })} />
      </>
    ),
  },
  {
    name: "Create the GitHub App",
    text: "It receives which pull requests are merged, and joins them to the cost of their sessions.",
    to: { path: "/settings/github", name: "GitHub" },
    isDone: ({ app }) => isInstalled(app),
    body: ({ setUp: { app } }) => (
      <>
        <NextOfApp view={app} />
        <FaultsOfApp view={app} />
      </>
    ),
  },
  {
    name: "Join merged pull requests",
    text: "From then on merges are stored, without any text of a pull request, and get their cost.",
    to: { path: "/settings/github", name: "GitHub" },
    isDone: ({ isJoining }) => isJoining,
    body: ({ setUp }) => <JoinStep setUp={setUp} />,
  },
  {
    name: "Stamp a pull request",
    text: "Its body names the session whose calls made it.",
    to: { path: "/pull-requests", name: "All pull requests" },
    isDone: ({ hasStamped }) => hasStamped,
    body: () => <StampStep />,
  },
  {
    name: "Merge it",
    text: "The Overview then shows what a merged pull request costs.",
    to: { path: "/overview", name: "Overview" },
    isDone: ({ hasJoined }) => hasJoined,
    body: () => null,
  },
];
