import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { PageHead } from "../parts/page-head.tsx";
import { STEPS, type Step } from "./steps.ts";

const POLL_MS = 3000;

/** The way from an empty installation to the cost of a merged pull request; every step checks itself. */
export function SetUpPage() {
  return (
    <>
      <PageHead
        title="Set up"
        sub="Seven steps to what a merged pull request costs. Each one ticks itself."
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
