import { Link } from "@tanstack/react-router";
import { useMe } from "../data/me.ts";
import { CopyButton } from "../parts/copy.tsx";
import { plainName } from "../parts/foreign.tsx";
import { PageHead } from "../parts/page-head.tsx";
import type { NavigationPage } from "./navigation.ts";

/** A page that the reader's role does not have: who has it, and how to ask for it. */
export function Denied({ name, role }: Pick<NavigationPage, "name" | "role">) {
  const { email, role: own } = useMe();
  const who = role === "manager" ? "managers and administrators" : "administrators";
  const request = `Please give ${email} the role ${role} in Tallygate (${location.origin}/settings/people), to open ${location.href}`;
  return (
    <>
      <PageHead title={name} />
      <div className="panel empty">
        <b>This page is for {who}</b>
        <p>
          You are signed in as <bdi>{plainName(email)}</bdi>, a {own}. An administrator can change that under
          People and teams. Your own calls, keys and pull requests are on{" "}
          <Link to="/me" className="link">
            My usage
          </Link>
          .
        </p>
        <CopyButton text={request} label="Copy a message to an administrator" />
      </div>
    </>
  );
}
