import { Link } from "@tanstack/react-router";
import { PageHead } from "../parts/page-head.tsx";

/** An address that asks for what there is not: nothing else is shown instead. */
export const CannotAsk = ({ title, faults }: { title: string; faults: readonly string[] }) => (
  <>
    <PageHead title={title} />
    <div className="panel empty" role="alert">
      <b>This address cannot be asked</b>
      {faults.map((fault) => (
        <p key={fault}>{fault}</p>
      ))}
      <Link to="." search={{}} className="link">
        Open {title} without filters
      </Link>
    </div>
  </>
);
