import { hostname } from "node:os";
import { Type } from "@sinclair/typebox";
import type { SessionId } from "#shared/labels.ts";
import { open } from "#shared/schema.ts";
import { Secret } from "../../directory.ts";
import type { Gateway } from "../agents/agent.ts";
import { apiAt, expectShape } from "../client/api.ts";
import { pinnedSession, pinSession } from "./branch-session.ts";
import { type Git, isDefaultBranch } from "./git.ts";
import { githubHost } from "./github.ts";
import { remotesOn } from "./remote.ts";
import type { Stamped } from "./stamp-target.ts";
import { knownSession } from "./task.ts";

/** A session that was declared already, in the repository's own configuration: it is declared once. */
const declaredKey = (branch: string): string => `branch.${branch}.gateway-linked`;

/**
 * Declares at the gateway that an agent's session worked on a branch's task, with the repository and the branch as
 * evidence. Where the branch has no session yet, it gets the surrounding wrapper's, else the agent's. Nothing is declared
 * on the default branch, or without a gateway.
 * @throws ApiError if the gateway refuses or does not answer; the next call tries again.
 */
export async function linkSession(
  git: Git,
  { session, branch }: { session: SessionId; branch: string },
  gateway: Gateway | null,
): Promise<SessionId | null> {
  if (await isDefaultBranch(git, branch)) return null;
  const task =
    (await pinnedSession(git, branch)) ??
    (await pinSession(git, branch, (await knownSession(git, session, branch)) ?? session));
  if (gateway !== null) await declare(git, { session, of: task, branch }, gateway);
  return task;
}

type Link = { session: SessionId; of: SessionId; branch: string };

const Declared = open({ counts: Type.Boolean() });

/** Declares a link once. @returns whether it counts, as the gateway judges it now; null: it was declared before. */
async function declare(git: Git, { session, of, branch }: Link, gateway: Gateway): Promise<boolean | null> {
  const declared = `${session} ${of}`;
  const before = await git("config", "--local", "--get-all", declaredKey(branch));
  if (before?.split("\n").includes(declared)) return null;
  const [remote] = await remotesOn(git, githubHost());
  const repository = remote && { repository: `${remote.owner}/${remote.repository}` };
  const name = branch.slice(0, TASK_MAX);
  const body = { session, of, task: name, branch: name, clone: await cloneOf(git), ...repository };
  const api = apiAt(gateway.url, new Secret(gateway.key));
  const answer = await api.call("POST", "/v1/sessions/links", body);
  await git("config", "--local", "--add", declaredKey(branch), declared);
  return expectShape(Declared, answer, "The link").counts;
}

const TASK_MAX = 256;

/** Tells this clone apart from others, without naming the machine. */
async function cloneOf(git: Git): Promise<string> {
  const path = await git("rev-parse", "--path-format=absolute", "--git-common-dir");
  return new Bun.CryptoHasher("sha256").update(`${hostname()}:${path}`).digest("hex").slice(0, 12);
}

/**
 * Where a pull request names another session than this clone's, links this one to it: work on one branch may come from
 * several clones, and a second line would leave the merge without a cost.
 * @throws ApiError if the gateway refuses or does not answer; the next call tries again.
 */
export async function linkInstead(git: Git, stamped: Stamped, gateway: Gateway | null): Promise<Stamped> {
  const { instead, url } = stamped;
  if (!instead || gateway === null) return stamped;
  const { session, of } = instead;
  const counts = await declare(git, instead, gateway);
  const linked = `${url} names the session ${of}; ${session}, which this clone uses, is linked to it`;
  if (counts !== false) return { ...stamped, done: true, changed: counts !== null, text: `${linked}.` };
  const why = `but does not count: the owner of ${of} has not worked on the same repository and branch with a hook or \`tallygate run\``;
  return { ...stamped, text: `${linked}, ${why}.` };
}
