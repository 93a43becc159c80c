import { Link } from "@tanstack/react-router";
import type { RequestPage } from "#shared/admin/records.ts";
import { Foreign } from "../parts/foreign.tsx";

/** A label, the filter of the list that finds its like, and what it is called. */
const LABELS = [
  ["model", "model", "Model"],
  ["response_model", null, "Model that answered"],
  ["provider", "provider", "Provider"],
  ["service_tier", null, "Service tier"],
  ["route", "route", "Route"],
  ["route_source", null, "Route chosen by"],
  ["owner", "owner", "Person"],
  ["user_label", "user", "User label"],
  ["team", "team", "Team"],
  ["cost_center", null, "Cost centre"],
  ["key_name", "key", "Key"],
  ["client", "client", "Client"],
  ["session", "session", "Session"],
  ["agent_session", null, "Agent's own session"],
  ["parent_session", "session", "Session of the agent that began it"],
  ["surface", "surface", "Surface"],
  ["channel", "channel", "Channel"],
  ["guardrail", "guardrail", "Guardrail"],
  ["error_type", "error_type", "Error"],
  ["error_cause", "error_cause", "Cause"],
  ["provider_request_id", "provider_request_id", "Provider's request id"],
  ["usage_source", null, "Usage from"],
] as const satisfies readonly (readonly [keyof RequestPage, string | null, string])[];

/** What the record is known by; each leads to its like. */
export const Labels = ({ row }: { row: RequestPage }) => (
  <dl className="facts">
    {LABELS.flatMap(([name, filter, words]) => {
      const value = row[name];
      return value === null || value === undefined
        ? []
        : [
            <dt key={`${name} name`}>{words}</dt>,
            <dd key={name}>
              {filter ? (
                <Link to="/requests" search={{ [filter]: value }}>
                  <Foreign text={value} />
                </Link>
              ) : (
                <Foreign text={value} />
              )}
            </dd>,
          ];
    })}
    {row.tags.length > 0 && (
      <>
        <dt>Tags</dt>
        <dd>
          {row.tags.map((tag) => (
            <Link key={tag} to="/requests" search={{ tag }} className="tag">
              <Foreign text={tag} />
            </Link>
          ))}
        </dd>
      </>
    )}
  </dl>
);
