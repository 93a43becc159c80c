import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { PersonView } from "#shared/admin/people.ts";
import type { SignInLink } from "#shared/admin/sign-in-links.ts";
import { sendJson } from "../data/api.ts";
import { Fault } from "../parts/states.tsx";
import { textColumn } from "./cells.tsx";
import { PERSON } from "./forms/people-forms.ts";
import type { ResourceFacts } from "./resource-panel.tsx";
import { SecretOnce } from "./secret-once.tsx";

/** People: who may sign in, and as what. */
export const PEOPLE: ResourceFacts<PersonView> = {
  path: "/admin/v1/people",
  title: "People",
  noun: "person",
  nameOf: ({ email }) => email,
  columns: [
    textColumn("email", "E-mail", { of: ({ email }) => email }),
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("role", "Role", { of: ({ role }) => role }),
    textColumn("team", "Team", { of: ({ team }) => team, none: "no team" }),
    textColumn("github", "GitHub", { of: ({ github_login: login }) => login, none: "not linked" }),
    textColumn("state", "State", { of: ({ disabled }) => (disabled ? "disabled" : "active") }),
  ],
  spend: { by: "person", nameOf: ({ email }) => email.toLowerCase() },
  form: PERSON,
  empty: "People appear at their first sign-in, or when you add them.",
  removal: {
    verb: "Disable",
    effect: "Their sessions and keys end within five seconds, everywhere. Their records stay.",
  },
  actions: ({ id, email }) => (
    <>
      <div className="note">
        <Link to="/settings/people/$id" params={{ id }}>
          Linked accounts, budgets and keys
        </Link>
      </div>
      <SignInLinkButton email={email} />
    </>
  ),
  isFixed: ({ disabled }) => disabled,
};

/** A link that signs a person in once, for people without another way to sign in. */
function SignInLinkButton({ email }: { email: string }) {
  const link = useMutation({
    mutationFn: () => sendJson<SignInLink>("/admin/v1/sign-in-links", { method: "POST", body: { email } }),
  });
  if (link.data) return <SecretOnce secret={link.data.url} what="the link, which is valid for 15 minutes," />;
  return (
    <div className="note">
      {link.error && <Fault error={link.error} />}
      <Button size="compact-sm" variant="default" loading={link.isPending} onClick={() => link.mutate()}>
        Make a sign-in link
      </Button>
    </div>
  );
}
