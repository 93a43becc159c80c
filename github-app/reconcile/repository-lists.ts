import type { Github } from "../github/octokit.ts";
import { statusOf } from "../github/wait.ts";

/** A repository of an installation. `isPrivate`: outsiders cannot see it; null: unknown. */
export type Repository = { id: number; fullName: string; isPrivate: boolean | null };

export type RepositoryLists = (github: Github, installationId: number) => Promise<Repository[]>;

const PAGE = 100;
const LISTS_MAX = 500;

/** Remembers lists of one page, so that GitHub need not send (and does not count) what has not changed. */
export function createRepositoryLists(): RepositoryLists {
  const lists = new Map<number, { etag: string; repositories: Repository[] }>();
  return async (github, installationId) => {
    const known = lists.get(installationId);
    const { listReposAccessibleToInstallation } = github.rest.apps;
    const headers = known ? { "if-none-match": known.etag } : {};
    const first = await listReposAccessibleToInstallation({ per_page: PAGE, headers }).catch(
      (error: unknown) => {
        if (statusOf(error) !== 304) throw error;
        return null;
      },
    );
    if (first === null) return known?.repositories ?? [];
    const { repositories, total_count: total } = first.data;
    if (total > PAGE) {
      return formOf(await github.paginate(listReposAccessibleToInstallation, { per_page: PAGE }));
    }
    const listed = formOf(repositories);
    if (lists.size >= LISTS_MAX) lists.clear();
    if (first.headers.etag) lists.set(installationId, { etag: first.headers.etag, repositories: listed });
    return listed;
  };
}

const formOf = (repositories: readonly { id: number; full_name: string; private: boolean }[]): Repository[] =>
  repositories.map((it) => ({ id: it.id, fullName: it.full_name, isPrivate: it.private }));
