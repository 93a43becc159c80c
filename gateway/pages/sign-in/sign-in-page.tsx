import { Alert, Button, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { WaysIn } from "#shared/admin/ways-in.ts";
import { ownPath } from "#shared/own-path.ts";
import { SIGN_IN_CAUSES } from "#shared/sign-in-causes.ts";
import { useAddress } from "../data/address.ts";
import { getJson, postJson } from "../data/api.ts";
import { ME } from "../data/me.ts";
import { oneText } from "../data/search.ts";
import { Brand } from "../parts/brand.tsx";
import { Answered, Fault, PageHead } from "../parts/page.tsx";
import { TypedForm } from "../parts/typed-form.tsx";

/** Where one came from, if it is an address of this console. */
const readSearch = (raw: Record<string, unknown>) => {
  return {
    token: oneText(raw["token"]),
    error: oneText(raw["error"]),
    next: ownPath(oneText(raw["next"]) ?? null) ?? undefined,
  };
};

/** The ways in: a button for each that is set up, the one-time link, and where to get one. */
export function SignInPage() {
  const [{ token, next, error: cause }] = useAddress(readSearch);
  const [error, setError] = useState<unknown>(null);
  const client = useQueryClient();
  const navigate = useNavigate();
  const signIn = async (body: LinkSignIn) => {
    try {
      setError(null);
      await postJson("/auth/sign-in/link", body);
      client.removeQueries(ME);
      // Replaced, so that the used link is not in the way back.
      await navigate({ to: next ?? "/", replace: true });
    } catch (fault) {
      setError(fault);
    }
  };
  return (
    <main className="content sign-in" id="content">
      <Brand />
      <PageHead title="Sign in" />
      {token === undefined ? (
        <div className="panel prose">
          {cause !== undefined && <Failed code={cause} />}
          <Ways next={next} />
          <p>A one-time link signs you in when you open it. It is valid for 15 minutes and works once.</p>
          <p className="mute">
            Tallygate printed one for the first administrator at its first start. An administrator makes one
            for anyone under People and teams, or with <code>tallygate sign-in-link EMAIL</code>.
          </p>
        </div>
      ) : (
        <LinkForm token={token} error={error} signIn={signIn} />
      )}
    </main>
  );
}

const WAYS_IN = { queryKey: ["ways-in"], queryFn: () => getJson<WaysIn>("/auth/ways-in") } as const;

const buttonsOf = ({ github, oidc, saml }: WaysIn): { way: string; name: string }[] => [
  ...(github ? [{ way: "github", name: "GitHub" }] : []),
  ...(oidc ? [{ way: "oidc", name: oidc.name }] : []),
  ...(saml ? [{ way: "saml", name: saml.name }] : []),
];

/** Plain links: the content policy lets no form leave for another site. */
function Ways({ next }: { next: string | undefined }) {
  const query = useQuery(WAYS_IN);
  return (
    <Answered query={query} height={36}>
      {(ways) => {
        const buttons = buttonsOf(ways);
        const off = ways.off.map(({ way, reason }) => (
          <p key={way} className="mute">
            {reason}
          </p>
        ));
        if (buttons.length === 0) {
          return off.length > 0 ? off : <p className="mute">No single sign-on is set up.</p>;
        }
        const links = buttons.map(({ way, name }) => (
          <Button
            variant="filled"
            key={way}
            component="a"
            href={`/auth/sign-in/${way}${next ? `?next=${encodeURIComponent(next)}` : ""}`}
            fullWidth
            mb="sm"
          >
            Sign in with {name}
          </Button>
        ));
        return [...links, ...off];
      }}
    </Answered>
  );
}

const isCause = (code: string): code is keyof typeof SIGN_IN_CAUSES => Object.hasOwn(SIGN_IN_CAUSES, code);

/** Why the sign-in elsewhere failed that led back here. */
const Failed = ({ code }: { code: string }) => (
  <Alert color="red" variant="outline" role="alert" mb="md">
    <b>You are not signed in.</b>{" "}
    {isCause(code) ? SIGN_IN_CAUSES[code] : "The sign-in failed. Start it again."}
  </Alert>
);

type LinkSignIn = { token: string; email?: string; name?: string };

type LinkFormProps = { token: string; error: unknown; signIn: (body: LinkSignIn) => Promise<void> };

/** A first administrator's link does not know yet whose it is. */
const isFirst = (token: string): boolean => token.startsWith("tgf_");

/** The link is used by the button alone: a preview of the address must not sign in. */
function LinkForm({ token, error, signIn }: LinkFormProps) {
  const [isBusy, setBusy] = useState(false);
  const submit = (typed: Readonly<Record<string, string>>) => {
    setBusy(true);
    const named = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== ""));
    void signIn({ token, ...named }).finally(() => setBusy(false));
  };
  return (
    <TypedForm className="panel" submit={submit}>
      {isFirst(token) ? (
        <>
          <p className="mute">You become the first administrator of this gateway.</p>
          <TextInput
            {...{ name: "email", label: "Your e-mail address", defaultValue: "admin@localhost", mb: "md" }}
            description="It names you in the audit log, and your keys belong to it."
            type="text"
            inputMode="email"
            autoComplete="email"
            required
          />
          <TextInput name="name" label="Your name" autoComplete="name" mb="md" />
        </>
      ) : (
        <p className="mute">This link signs in the person that it was made for, once.</p>
      )}
      {error !== null && <Fault error={error} />}
      <Button variant="filled" type="submit" loading={isBusy} fullWidth>
        Sign in
      </Button>
    </TypedForm>
  );
}
