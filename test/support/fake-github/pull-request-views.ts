import { accountView, ownerOf, repositoryView, WEB } from "./repository-views.ts";
import type { Commit, PullRequest, Repository, Review } from "./world.ts";

// Pull requests, their commits and reviews as they look in GitHub's answers. `api` is the address of the REST API.

function side(repository: Repository | null, ref: string, sha: string) {
  const user = accountView(repository ? ownerOf(repository) : { id: 4, login: "gone", type: "User" });
  return {
    label: repository ? `${ownerOf(repository).login}:${ref}` : ref,
    ref,
    sha,
    user,
    repo: repository && repositoryView(repository),
  };
}

/** As in lists: without `merged`. */
export function pullRequestSimpleView(it: PullRequest, api: string) {
  const url = `${api}/repos/${it.repository.fullName}/pulls/${it.number}`;
  const html = `${WEB}/${it.repository.fullName}/pull/${it.number}`;
  const issue = `${api}/repos/${it.repository.fullName}/issues/${it.number}`;
  const head = it.headRepository === "deleted" ? null : (it.headRepository ?? it.repository);
  const links = { comments: `${issue}/comments`, commits: `${url}/commits`, issue, self: url, html };
  return {
    id: it.id,
    node_id: `PR_${it.id}`,
    url,
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: issue,
    commits_url: links.commits,
    comments_url: links.comments,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${api}/repos/${it.repository.fullName}/pulls/comments{/number}`,
    statuses_url: `${api}/repos/${it.repository.fullName}/statuses/${it.headSha}`,
    number: it.number,
    state: it.closedAt === null ? "open" : "closed",
    locked: it.locked,
    title: it.title,
    user: it.user && accountView(it.user),
    body: it.body,
    labels: [],
    milestone: null,
    active_lock_reason: null,
    created_at: it.createdAt,
    updated_at: it.updatedAt,
    closed_at: it.closedAt,
    merged_at: it.mergedAt,
    merge_commit_sha: it.mergeCommitSha,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    head: side(head, it.headRef, it.headSha),
    base: side(it.repository, it.baseRef, "b".repeat(40)),
    _links: Object.fromEntries(
      [
        ...Object.entries(links),
        ["statuses", ""],
        ["review_comments", `${url}/comments`],
        ["review_comment", ""],
      ].map(([name, href]) => [name, { href }]),
    ),
    author_association: it.authorAssociation,
    auto_merge: null,
    draft: false,
  };
}

export const pullRequestView = (it: PullRequest, api: string) => ({
  ...pullRequestSimpleView(it, api),
  merged: it.mergedAt !== null,
  merged_by: it.mergedAt === null || it.user === null ? null : accountView(it.user),
  mergeable: null,
  rebaseable: null,
  mergeable_state: "unknown",
  comments: 0,
  review_comments: 0,
  maintainer_can_modify: false,
  commits: it.commits.length,
  additions: 1,
  deletions: 1,
  changed_files: 1,
});

const PERSON = { name: "Someone", email: "someone@example.com", date: "2026-11-01T00:00:00Z" };

export const commitView = ({ sha, message }: Commit, { repository }: PullRequest) => ({
  sha,
  node_id: `C_${sha}`,
  url: `${WEB}/repos/${repository.fullName}/commits/${sha}`,
  html_url: `${WEB}/${repository.fullName}/commit/${sha}`,
  comments_url: `${WEB}/repos/${repository.fullName}/commits/${sha}/comments`,
  commit: {
    author: PERSON,
    committer: PERSON,
    message,
    comment_count: 0,
    tree: { sha: "7".repeat(40), url: `${WEB}/trees` },
    url: `${WEB}/git`,
  },
  author: null,
  committer: null,
  parents: [{ sha: "6".repeat(40), url: `${WEB}/commits`, html_url: `${WEB}/commit` }],
});

export function reviewView(it: Review, of: PullRequest) {
  const pull = `${WEB}/${of.repository.fullName}/pull/${of.number}`;
  return {
    id: it.id,
    node_id: `PRR_${it.id}`,
    user: it.user && accountView(it.user),
    body: it.body,
    state: it.state,
    html_url: `${pull}#pullrequestreview-${it.id}`,
    pull_request_url: pull,
    _links: { html: { href: pull }, pull_request: { href: pull } },
    submitted_at: it.submittedAt,
    commit_id: of.headSha,
    author_association: "MEMBER",
  };
}
