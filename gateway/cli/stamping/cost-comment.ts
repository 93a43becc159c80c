import { Type } from "@sinclair/typebox";
import { nullable, open } from "#shared/schema.ts";
import type { GithubApi } from "./github.ts";
import { ownLogin, pagesOf, pathOf, type RepositoryName, refusal } from "./pull-request.ts";

/** Its first line, by which the comment is found again. The GitHub App's comment has another. */
const MARKER = "<!-- tallygate:report -->";

const Author = open({ login: Type.String(), type: Type.String() });
const Comment = open({ id: Type.Integer(), body: Type.Optional(Type.String()), user: nullable(Author) });
type Comment = typeof Comment.static;

/** Shows the text in one comment on the pull request: made once, then changed. @throws Error if GitHub refuses. */
export async function showComment(github: GithubApi, it: RepositoryName & { number: number }, text: string) {
  const body = `${MARKER}\n${text}`;
  const before = await ownComment(github, it);
  if (before?.body === body) return;
  const { status } = before
    ? await github.ask("PATCH", `${pathOf(it)}/issues/comments/${before.id}`, { body })
    : await github.ask("POST", `${pathOf(it)}/issues/${it.number}/comments`, { body });
  if (status !== (before ? 200 : 201)) throw refusal(status, `comment on pull request ${it.number}`, it);
}

/** Anybody can write the marker, so the author decides as well. */
async function ownComment(github: GithubApi, it: RepositoryName & { number: number }) {
  const login = await ownLogin(github);
  // A workflow's token belongs to no person, and writes as a bot.
  const isOwn = ({ user }: Comment) => (login === null ? user?.type === "Bot" : user?.login === login);
  const comments = { path: `issues/${it.number}/comments`, item: Comment, what: "read the comments" };
  for await (const page of pagesOf(github, it, comments)) {
    const found = page.find((one) => isOwn(one) && one.body?.startsWith(MARKER));
    if (found) return found;
  }
  return null;
}
