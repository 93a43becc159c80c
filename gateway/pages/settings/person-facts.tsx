import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { PersonView } from "#shared/admin/people.ts";
import type { SignInLink } from "#shared/admin/sign-in-links.ts";
import { postJson } from "../data/api.ts";
import { Act } from "../parts/act.tsx";
import { text } from "../parts/columns.tsx";
import { PERSON } from "./forms/people-forms.ts";
import type { ResourceFacts } from "./resource-panel.tsx";
import { SecretOnce } from "./secret-once.tsx";

/** People: who may sign in, and as what. */
export const PEOPLE: ResourceFacts<PersonView> = {
  path: "/admin/v1/people",
  title: "People",
  noun: "person",
  nameOf: ({ email }) => email,
  columns: {
    email: text("E-mail", ({ email }) => email),
    name: text("Name", ({ name }) => name),
    role: text("Role", ({ role }) => role),
    team: text("Team", ({ team }) => team, "no team"),
    github: text("GitHub", ({ github_login: login }) => login, "not linked"),
    state: text("State", ({ disabled }) => (disabled ? "disabled" : "active")),
  },
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
  const link = useMutation({ mutationFn: () => postJson<SignInLink>("/admin/v1/sign-in-links", { email }) });
  if (link.data) return <SecretOnce secret={link.data.url} what="the link, which is valid for 15 minutes," />;
  return (
    <div className="note">
      <Act act={() => link.mutateAsync()}>Make a sign-in link</Act>
    </div>
  );
}
