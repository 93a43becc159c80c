import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Page } from "#shared/admin/fields.ts";
import type { KeyView } from "#shared/admin/keys.ts";
import type { ProviderView } from "#shared/admin/providers.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import type { RequestView } from "#shared/admin/records.ts";
import type { RepositoryView } from "#shared/admin/repositories.ts";
import type { RouteView } from "#shared/admin/routes.ts";
import { getJson } from "../data/api.ts";
import { PageHead } from "../parts/page-head.tsx";

const POLL_MS = 3000;

/** The way from an empty installation to the cost of a merged pull request; every step checks itself. */
export function SetUpPage() {
  return (
    <>
      <PageHead
        title="Set up"
        sub="Seven steps to the cost of a merged pull request. Each one is checked off automatically."
      />
      <ol className="steps">
        {STEPS.map((step) => (
          <StepRow key={step.name} step={step} />
        ))}
      </ol>
    </>
  );
}

function StepRow({ step }: { step: Step }) {
  const { data: isDone = false } = useQuery({
    queryKey: ["set-up", step.name],
    queryFn: step.isDone,
    refetchInterval: ({ state }) => (state.data ? false : POLL_MS),
  });
  return (
    <li className="step" data-done={isDone}>
      <span className="step-mark" aria-hidden="true">
        {isDone ? "✓" : ""}
      </span>
      <div>
        <h2>{step.name}</h2>
        <p>{step.text}</p>
        <p role="status">
          {isDone ? "Done" : "Not yet"} · <Link to={step.to}>{step.action}</Link>
        </p>
      </div>
    </li>
  );
}

/** One step of the first set-up, which checks itself. */
type Step = {
  name: string;
  /** What to do, and what it is for. */
  text: string;
  /** Where to do it. */
  to: string;
  action: string;
  isDone: () => Promise<boolean>;
};

const rowsOf = async <T,>(path: string): Promise<T[]> => (await getJson<Page<T>>(path)).data;

/** The built-in provider answers without a vendor; it is there from the start. */
const isVendors = ({ kind, enabled, credential_source: source }: ProviderView): boolean =>
  kind !== "echo" && enabled && source !== "none";

const STEPS: readonly Step[] = [
  {
    name: "Add a provider",
    text: "A vendor such as OpenAI or Anthropic, with its API key. Until then, the built-in provider echo answers.",
    to: "/settings/providers",
    action: "Providers",
    isDone: async () => (await rowsOf<ProviderView>("/admin/v1/providers?limit=500")).some(isVendors),
  },
  {
    name: "Add a route",
    text: "A name for a kind of task, and the model that does it. Callers can also name a model directly.",
    to: "/settings/routes",
    action: "Routes",
    isDone: async () =>
      (await rowsOf<RouteView>("/admin/v1/routes?limit=500")).some(({ provider }) => provider !== "echo"),
  },
  {
    name: "Make a key",
    text: "A key identifies who makes a call. Give one to each person and each service.",
    to: "/settings/keys",
    action: "Keys",
    isDone: async () =>
      (await rowsOf<KeyView>("/admin/v1/keys?limit=500")).some(({ owner }) => owner !== null),
  },
  {
    name: "Make the first call",
    text: "Copy a snippet for your agent or SDK. The call appears here as soon as it is recorded.",
    to: "/me",
    action: "Connect an agent",
    isDone: async () => (await rowsOf<RequestView>("/admin/v1/requests?limit=1")).length > 0,
  },
  {
    name: "Create the GitHub App",
    text: "It sees which pull requests are merged and joins them to the cost of their sessions.",
    to: "/settings/github",
    action: "GitHub",
    isDone: async () => (await rowsOf<RepositoryView>("/admin/v1/repositories?limit=1")).length > 0,
  },
  {
    name: "Stamp a pull request",
    text: "Its body names the session: Gateway-Session: <id>. Run tallygate install to have agents add it.",
    to: "/pull-requests",
    action: "Pull requests",
    isDone: async () =>
      (await rowsOf<PullRequestView>("/admin/v1/pull-requests?limit=100")).some(
        ({ session }) => session !== null,
      ),
  },
  {
    name: "Merge it",
    text: "The Overview then shows what a merged pull request costs.",
    to: "/overview",
    action: "Overview",
    isDone: async () =>
      (await rowsOf<PullRequestView>("/admin/v1/pull-requests?link=joined&limit=1")).length > 0,
  },
];
