import { Alert, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { WaysIn } from "#shared/admin/ways-in.ts";
import { SIGN_IN_CAUSES } from "#shared/sign-in-causes.ts";
import { getJson } from "../data/api.ts";
import { Answered } from "../parts/states.tsx";

const WAYS_IN = {
  queryKey: ["ways-in"],
  queryFn: () => getJson<WaysIn>("/auth/ways-in"),
} as const;

/** The buttons of the ways that are set up, each with the name that people know. */
const buttonsOf = ({ github, oidc, saml }: WaysIn): { way: string; name: string }[] => [
  ...(github ? [{ way: "github", name: "GitHub" }] : []),
  ...(oidc ? [{ way: "oidc", name: oidc.name }] : []),
  ...(saml ? [{ way: "saml", name: saml.name }] : []),
];

/** Plain links: the content policy lets no form leave for another site. */
export function Ways({ next }: { next: string | undefined }) {
  const query = useQuery(WAYS_IN);
  return (
    <Answered query={query} height={36}>
      {(ways) => {
        const buttons = buttonsOf(ways);
        if (buttons.length === 0) {
          return (
            <p className="mute">No single sign-on is set up, so one-time links are the way to sign in.</p>
          );
        }
        return buttons.map(({ way, name }) => (
          <Button
            key={way}
            component="a"
            href={`/auth/sign-in/${way}${next ? `?next=${encodeURIComponent(next)}` : ""}`}
            fullWidth
            mb="sm"
          >
            Sign in with {name}
          </Button>
        ));
      }}
    </Answered>
  );
}

const isCause = (code: string): code is keyof typeof SIGN_IN_CAUSES => Object.hasOwn(SIGN_IN_CAUSES, code);

/** Why the sign-in elsewhere failed that led back here. */
export const Failed = ({ code }: { code: string }) => (
  <Alert color="red" variant="outline" role="alert" mb="md">
    <b>You are not signed in.</b>{" "}
    {isCause(code) ? SIGN_IN_CAUSES[code] : "The sign-in failed. Start it again."}
  </Alert>
);
