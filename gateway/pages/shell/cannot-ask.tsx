import { Link, useSearch } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { PageHead } from "../parts/page-head.tsx";
import { listFaults } from "./address-faults.ts";

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

/** A list that is shown only if its address names nothing but its filters. */
export const askable = (title: string, names: readonly string[], List: ComponentType) =>
  function Askable() {
    const raw: Record<string, unknown> = useSearch({ strict: false });
    const faults = listFaults(raw, names);
    return faults.length > 0 ? <CannotAsk title={title} faults={faults} /> : <List />;
  };
