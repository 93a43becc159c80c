import { createPublicKey, verify } from "node:crypto";
import type { Operation } from "./operations.ts";
import type { Installation, World } from "./world.ts";

/** Who asks. `person`: someone with a token of their own, as the command line has. */
export type Caller =
  | { kind: "app" }
  | { kind: "installation"; installation: Installation; permissions: Record<string, string> }
  | { kind: "person"; login: string }
  | { kind: "nobody" };

/** What an installation must have been granted; what is not here needs `metadata: read` only. */
const PERMISSIONS: Partial<Record<Operation, [name: string, access: "read" | "write"]>> = {
  "GET /repos/{owner}/{repo}/pulls": ["pull_requests", "read"],
  "POST /repos/{owner}/{repo}/pulls": ["pull_requests", "write"],
  "GET /repos/{owner}/{repo}/pulls/{pull_number}": ["pull_requests", "read"],
  "PATCH /repos/{owner}/{repo}/pulls/{pull_number}": ["pull_requests", "write"],
  "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge": ["contents", "write"],
  "GET /repos/{owner}/{repo}/pulls/{pull_number}/commits": ["pull_requests", "read"],
  "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews": ["pull_requests", "read"],
  "PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}": ["pull_requests", "write"],
  "GET /repos/{owner}/{repo}/issues": ["issues", "read"],
  "POST /repos/{owner}/{repo}/issues": ["issues", "write"],
  "PATCH /repos/{owner}/{repo}/issues/{issue_number}": ["issues", "write"],
  "GET /repos/{owner}/{repo}/issues/{issue_number}/comments": ["pull_requests", "read"],
  "POST /repos/{owner}/{repo}/issues/{issue_number}/comments": ["pull_requests", "write"],
  "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}": ["pull_requests", "write"],
  "POST /graphql": ["pull_requests", "read"],
  "POST /repos/{owner}/{repo}/check-runs": ["checks", "write"],
  "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}": ["checks", "write"],
  "GET /repos/{owner}/{repo}/commits/{ref}/check-runs": ["checks", "read"],
};

const OF_APP = /^(GET|POST|PATCH) \/app(\/|$)/;

/** Tokens handed out to installations and people. */
export function createTokens(world: World, now: () => Date) {
  type Issued = { installation: Installation; permissions: Record<string, string>; expiresAt: number };
  const installations = new Map<string, Issued>();
  const people = new Map<string, string>();
  return {
    issue: (installation: Installation) => {
      const token = `ghs_${crypto.randomUUID().replaceAll("-", "")}`;
      const expiresAt = now().getTime() + 3_600_000;
      // What a token may do is what was accepted when it was issued.
      installations.set(token, { installation, permissions: { ...installation.permissions }, expiresAt });
      return { token, expires_at: new Date(expiresAt).toISOString() };
    },
    /** Takes every token back that an installation has, as GitHub does when it is changed. */
    revoke: (of: Installation) => {
      for (const [token, it] of installations) if (it.installation === of) installations.delete(token);
    },
    /** A token of a person who may do everything. */
    personal: (login: string) => {
      const token = `ghp_${crypto.randomUUID().replaceAll("-", "")}`;
      people.set(token, login);
      return token;
    },
    callerOf: (authorization: string | null): Caller => {
      const token = (authorization ?? "").replace(/^(bearer|token) /i, "");
      const issued = installations.get(token);
      if (issued && issued.expiresAt > now().getTime()) {
        return { kind: "installation", installation: issued.installation, permissions: issued.permissions };
      }
      const login = people.get(token);
      if (login !== undefined) return { kind: "person", login };
      return isAppToken(world, token, now()) ? { kind: "app" } : { kind: "nobody" };
    },
  };
}

/** As GitHub: a token signed by RS256 with the App's key, issued in the past and valid for ten minutes at most. */
function isAppToken({ app }: World, token: string, now: Date): boolean {
  const [head = "", body = "", signature = ""] = token.split(".");
  if (signature === "") return false;
  const read = (part: string) =>
    JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  const { iss, iat, exp } = read(body);
  const seconds = Math.floor(now.getTime() / 1000);
  if (typeof iat !== "number" || typeof exp !== "number") return false;
  return (
    read(head)["alg"] === "RS256" &&
    iat <= seconds &&
    exp > seconds &&
    exp - iat <= 660 &&
    String(iss) === String(app.id) &&
    verify(
      "sha256",
      Buffer.from(`${head}.${body}`),
      createPublicKey(app.publicKey),
      Buffer.from(signature, "base64url"),
    )
  );
}

/** The status with which a caller is refused, or null. */
export function refusal(caller: Caller, operation: Operation, fullName: string | null): number | null {
  if (operation === "POST /app-manifests/{code}/conversions") return null;
  if (caller.kind === "nobody") return 401;
  if (OF_APP.test(operation)) return caller.kind === "app" ? null : 401;
  if (caller.kind === "app") return 401;
  if (caller.kind === "person") return null;
  const { installation, permissions } = caller;
  if (installation.removed) return 401;
  if (installation.suspendedAt !== null) return 403;
  // An installation is no person.
  if (operation === "GET /user") return 403;
  if (fullName !== null && !installation.repositories.some((it) => it.fullName === fullName)) return 404;
  const [name, access] = PERMISSIONS[operation] ?? ["metadata", "read"];
  const granted = permissions[name];
  const enough = access === "read" ? granted !== undefined : granted === "write";
  return enough ? null : 403;
}
