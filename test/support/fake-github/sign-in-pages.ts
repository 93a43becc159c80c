import type { RestEndpointMethodTypes } from "@octokit/rest";
import { ownAccountView } from "./repository-views.ts";
import type { Account, World } from "./world.ts";

/** Somebody with an account, as they are now. */
export type GithubPerson = {
  account: Account;
  name: string | null;
  emails: { email: string; primary: boolean; verified: boolean }[];
  memberships: { organization: Account; state: "active" | "pending" }[];
};

type Users = RestEndpointMethodTypes["users"];
type Orgs = RestEndpointMethodTypes["orgs"];
type Emails = Users["listEmailsForAuthenticatedUser"]["response"]["data"];
type Memberships = Orgs["listMembershipsForAuthenticatedUser"]["response"]["data"];
type Departed = { person: GithubPerson; redirectUri: string; challenge: string };

const organization = (it: Account) => ({
  ...{
    login: it.login,
    id: it.id,
    node_id: `O_${it.id}`,
    url: "",
    repos_url: "",
    events_url: "",
    hooks_url: "",
  },
  ...{ issues_url: "", members_url: "", public_members_url: "", avatar_url: "", description: null },
});

/**
 * The pages by which people sign in at an App (docs.github.com: Authorizing OAuth apps), for a person who agrees at once,
 * and what their token may ask. Types are those of GitHub's own description.
 */
export function createSignInPages(world: World) {
  const codes = new Map<string, Departed>();
  const tokens = new Map<string, GithubPerson>();
  const state = {
    /** Who sits at the browser; null: who does not agree. */
    person: null as GithubPerson | null,
    /** Whether every address answers 503. */
    isDown: false,
    /** Where people may be sent back to. */
    callbackUrls: [] as string[],
    /** Tokens that were issued. */
    issued: () => [...tokens.keys()],
  };

  function authorize(query: URLSearchParams): Response {
    const redirectUri = query.get("redirect_uri") ?? "";
    if (query.get("client_id") !== world.app.clientId) return new Response("Not Found", { status: 404 });
    if (!state.callbackUrls.includes(redirectUri)) return new Response("redirect_uri", { status: 400 });
    const back = new URL(redirectUri);
    back.searchParams.set("state", query.get("state") ?? "");
    if (state.person === null) back.searchParams.set("error", "access_denied");
    else {
      const code = crypto.randomUUID();
      codes.set(code, {
        person: state.person,
        redirectUri,
        challenge: query.get("code_challenge_method") === "S256" ? (query.get("code_challenge") ?? "") : "",
      });
      back.searchParams.set("code", code);
    }
    return new Response(null, { status: 302, headers: { location: String(back) } });
  }

  /** GitHub answers a code that it refuses with 200. */
  function exchange(form: URLSearchParams): Response {
    const departed = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const { clientId, clientSecret } = world.app;
    if (form.get("client_id") !== clientId || form.get("client_secret") !== clientSecret) {
      return Response.json({ error: "incorrect_client_credentials" });
    }
    const verifier = form.get("code_verifier") ?? "";
    const challenge = new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
    const isRight = departed?.challenge === challenge && departed.redirectUri === form.get("redirect_uri");
    if (!departed || !isRight) return Response.json({ error: "bad_verification_code" });
    const token = `ghu_${crypto.randomUUID().replaceAll("-", "")}`;
    tokens.set(token, departed.person);
    return Response.json({ access_token: token, token_type: "bearer", scope: "" });
  }

  const answers: Record<string, (person: GithubPerson, query: URLSearchParams) => unknown> = {
    "/user": ({ account, name }) => ({ ...ownAccountView(account), name }),
    "/user/emails": ({ emails }) => emails.map((it) => ({ ...it, visibility: null })) satisfies Emails,
    "/user/memberships/orgs": ({ memberships }, query) => {
      const [size, page] = [Number(query.get("per_page") ?? 30), Number(query.get("page") ?? 1)];
      return memberships.slice((page - 1) * size, page * size).map((it) => ({
        url: "",
        state: it.state,
        role: "member" as const,
        organization_url: "",
        organization: organization(it.organization),
        user: null,
      })) satisfies Memberships;
    },
  };

  return {
    state,
    answer: async (request: Request, url: URL): Promise<Response | null> => {
      const path = url.pathname.replace(/^\/api\/v3(?=\/)/, "");
      const token = (request.headers.get("authorization") ?? "").replace(/^bearer /i, "");
      const person = tokens.get(token);
      const answerer = answers[path];
      const isOurs = path.startsWith("/login/oauth/") || (person !== undefined && answerer !== undefined);
      if (!isOurs) return null;
      if (state.isDown) return new Response("Unicorn!", { status: 503 });
      if (path === "/login/oauth/authorize") return authorize(url.searchParams);
      if (path === "/login/oauth/access_token") return exchange(new URLSearchParams(await request.text()));
      return person && answerer ? Response.json(answerer(person, url.searchParams)) : null;
    },
  };
}
