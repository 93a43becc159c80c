import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ownPath } from "#shared/own-path.ts";
import { useAddress } from "../data/address.ts";
import { sendJson } from "../data/api.ts";
import { ME } from "../data/me.ts";
import { oneText } from "../data/search.ts";
import { PageHead } from "../parts/page-head.tsx";
import { LinkForm, type LinkSignIn } from "./link-form.tsx";
import { Failed, Ways } from "./ways.tsx";

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
      await sendJson("/auth/sign-in/link", { method: "POST", body });
      client.removeQueries(ME);
      // Replaced, so that the used link is not in the way back.
      await navigate({ to: next ?? "/", replace: true });
    } catch (fault) {
      setError(fault);
    }
  };
  return (
    <main className="content sign-in" id="content">
      <PageHead title="Sign in" />
      {token === undefined ? (
        <div className="panel prose">
          {cause !== undefined && <Failed code={cause} />}
          <Ways next={next} />
          <p>Or open your one-time link. It is valid for 15 minutes and works once.</p>
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
