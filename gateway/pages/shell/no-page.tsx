import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMe } from "../data/me.ts";
import { CopyButton } from "../parts/copy.tsx";
import { PageHead } from "../parts/page.tsx";
import { plainName } from "../parts/values.tsx";
import type { NavigationPage } from "./navigation.ts";

type InsteadProps = { title: string; what: string; role?: "alert"; children: ReactNode };

/** What is shown instead of a page. */
const Instead = ({ title, what, role, children }: InsteadProps) => (
  <>
    <PageHead title={title} />
    <div className="panel empty" role={role}>
      <b>{what}</b>
      {children}
    </div>
  </>
);

export const NotFound = () => (
  <Instead title="Not found" what="There is no page at this address">
    <p>The address may be mistyped, or the page may have moved. Search finds pages by name.</p>
    <Link to="/" className="link">
      Go to the start
    </Link>
  </Instead>
);

/** Shown for an address that does not exist. */
export const CannotAsk = ({ title, faults }: { title: string; faults: readonly string[] }) => (
  <Instead title={title} what="This address is not valid" role="alert">
    {faults.map((fault) => (
      <p key={fault}>{fault}</p>
    ))}
    <Link to="." search={{}} className="link">
      Open {title} without filters
    </Link>
  </Instead>
);

/** A page that the reader's role does not have: who has it, and how to ask for it. */
export function Denied({ name, role }: Pick<NavigationPage, "name" | "role">) {
  const { email, role: own } = useMe();
  const who = role === "manager" ? "managers and administrators" : "administrators";
  const request = `Please give ${email} the role ${role} in Tallygate (${location.origin}/settings/people), to open ${location.href}`;
  return (
    <Instead title={name} what={`This page is for ${who}`}>
      <p>
        You are signed in as <bdi>{plainName(email)}</bdi>, a {own}. An administrator can change that under
        People and teams. Your own calls, keys and pull requests are on{" "}
        <Link to="/me" className="link">
          My usage
        </Link>
        .
      </p>
      <CopyButton text={request} label="Copy a message to an administrator" />
    </Instead>
  );
}
