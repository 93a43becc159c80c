import type { Account, Repository } from "./world.ts";

// Accounts and repositories as they look in GitHub's answers.

export const WEB = "https://github.com";

const urls = (base: string, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [`${name}_url`, `${base}/${name}`]));

export const accountView = (it: Account) => ({
  login: it.login,
  id: it.id,
  node_id: `U_${it.id}`,
  gravatar_id: "",
  html_url: `${WEB}/${it.login}`,
  url: `${WEB}/users/${it.login}`,
  type: it.type,
  site_admin: false,
  ...urls(`${WEB}/users/${it.login}`, [
    "avatar",
    "events",
    "followers",
    "following",
    "gists",
    "organizations",
    "received_events",
    "repos",
    "starred",
    "subscriptions",
  ]),
});

/** The account of the one who asks. */
export const ownAccountView = (it: Account) => ({
  ...accountView(it),
  name: null,
  company: null,
  blog: null,
  location: null,
  email: null,
  hireable: null,
  bio: null,
  public_repos: 0,
  public_gists: 0,
  followers: 0,
  following: 0,
  created_at: "2020-01-01T00:00:00Z",
  updated_at: "2020-01-01T00:00:00Z",
});

const REPOSITORY_URLS = [
  "archive",
  "assignees",
  "blobs",
  "branches",
  "collaborators",
  "comments",
  "commits",
  "compare",
  "contents",
  "contributors",
  "deployments",
  "downloads",
  "events",
  "forks",
  "git_commits",
  "git_refs",
  "git_tags",
  "hooks",
  "issue_comment",
  "issue_events",
  "issues",
  "keys",
  "labels",
  "languages",
  "merges",
  "milestones",
  "notifications",
  "pulls",
  "releases",
  "stargazers",
  "statuses",
  "subscribers",
  "subscription",
  "tags",
  "teams",
  "trees",
  "clone",
  "git",
  "ssh",
  "svn",
];

const NO_COUNTS = {
  forks: 0,
  forks_count: 0,
  open_issues: 0,
  open_issues_count: 0,
  size: 1,
  stargazers_count: 0,
  watchers: 0,
  watchers_count: 0,
};

export const ownerOf = ({ fullName }: Repository): Account => ({
  id: 1,
  login: fullName.split("/")[0] ?? "",
  type: "Organization",
});

export const repositoryView = (it: Repository) => ({
  id: it.id,
  node_id: `R_${it.id}`,
  name: it.fullName.split("/")[1] ?? "",
  full_name: it.fullName,
  owner: accountView(ownerOf(it)),
  private: it.private,
  html_url: `${WEB}/${it.fullName}`,
  url: `${WEB}/repos/${it.fullName}`,
  description: null,
  fork: false,
  default_branch: "main",
  has_issues: true,
  has_projects: false,
  has_wiki: false,
  has_pages: false,
  has_downloads: false,
  has_discussions: false,
  homepage: null,
  language: null,
  archived: false,
  disabled: false,
  mirror_url: null,
  license: null,
  created_at: it.createdAt,
  updated_at: it.updatedAt,
  pushed_at: it.updatedAt,
  ...urls(`${WEB}/repos/${it.fullName}`, REPOSITORY_URLS),
  ...NO_COUNTS,
});

export const fullRepositoryView = (it: Repository) => ({
  ...repositoryView(it),
  network_count: 0,
  subscribers_count: 0,
});
