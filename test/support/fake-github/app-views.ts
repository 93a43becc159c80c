import { accountView, WEB } from "./repository-views.ts";
import type { Account, CheckRun, Comment, Installation, Issue, Registration } from "./world.ts";

// The App, where it is installed, and what it writes, as they look in GitHub's answers.

export const appView = (it: Registration) => ({
  id: it.id,
  slug: it.slug,
  node_id: `A_${it.id}`,
  client_id: it.clientId,
  owner: accountView({ id: 1, login: "octo-org", type: "Organization" }),
  name: it.name,
  description: null,
  external_url: "https://example.com",
  html_url: `${WEB}/apps/${it.slug}`,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  permissions: it.permissions,
  events: it.events,
});

export const installationView = (it: Installation, app: Registration) => ({
  id: it.id,
  account: accountView(it.account),
  repository_selection: "selected",
  access_tokens_url: `${WEB}/app/installations/${it.id}/access_tokens`,
  repositories_url: `${WEB}/installation/repositories`,
  html_url: `${WEB}/organizations/${it.account.login}/settings/installations/${it.id}`,
  app_id: app.id,
  app_slug: app.slug,
  target_id: it.account.id,
  target_type: it.account.type,
  permissions: it.permissions,
  events: app.events,
  created_at: it.createdAt,
  updated_at: it.updatedAt,
  single_file_name: null,
  suspended_at: it.suspendedAt,
  suspended_by: it.suspendedAt === null ? null : accountView(it.account),
});

const botOf = ({ id, slug }: Registration): Account => ({ id, login: `${slug}[bot]`, type: "Bot" });

export const commentView = (it: Comment, app: Registration) => ({
  id: it.id,
  node_id: `IC_${it.id}`,
  url: `${WEB}/repos/${it.repository.fullName}/issues/comments/${it.id}`,
  html_url: `${WEB}/${it.repository.fullName}/pull/${it.number}#issuecomment-${it.id}`,
  issue_url: `${WEB}/repos/${it.repository.fullName}/issues/${it.number}`,
  user: accountView(it.author ?? botOf(app)),
  body: it.body,
  created_at: it.createdAt,
  updated_at: it.updatedAt,
  author_association: "NONE",
  performed_via_github_app: it.author === null ? appView(app) : null,
});

export function issueView(it: Issue, app: Registration) {
  const url = `${WEB}/repos/${it.repository.fullName}/issues/${it.number}`;
  return {
    id: it.id,
    node_id: `I_${it.id}`,
    url,
    repository_url: `${WEB}/repos/${it.repository.fullName}`,
    labels_url: `${url}/labels`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: `${WEB}/${it.repository.fullName}/issues/${it.number}`,
    number: it.number,
    state: it.state,
    title: it.title,
    body: it.body,
    user: accountView(botOf(app)),
    labels: it.labels,
    assignee: null,
    assignees: [],
    milestone: null,
    locked: false,
    comments: 0,
    created_at: it.createdAt,
    updated_at: it.updatedAt,
    closed_at: it.state === "closed" ? it.updatedAt : null,
    author_association: "NONE",
    performed_via_github_app: appView(app),
  };
}

export const checkRunView = (it: CheckRun, app: Registration) => ({
  id: it.id,
  node_id: `CR_${it.id}`,
  head_sha: it.headSha,
  external_id: it.externalId,
  url: `${WEB}/repos/${it.repository.fullName}/check-runs/${it.id}`,
  html_url: `${WEB}/${it.repository.fullName}/runs/${it.id}`,
  details_url: it.detailsUrl,
  status: it.status,
  conclusion: it.conclusion,
  started_at: it.startedAt,
  completed_at: it.completedAt,
  output: { ...it.output, annotations_count: 0, annotations_url: `${WEB}/annotations` },
  name: it.name,
  check_suite: { id: 1 },
  app: appView(app),
  pull_requests: [],
});
