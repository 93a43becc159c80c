import type { Caller, createTokens } from "./access.ts";
import type { Deliveries } from "./deliveries.ts";
import type { createStory } from "./story.ts";
import type { Registration, Repository, World } from "./world.ts";

export type Asked = {
  parameters: Record<string, string>;
  query: URLSearchParams;
  body: Record<string, unknown>;
  caller: Caller;
  /** The address of the REST API. */
  api: string;
};

/** `pages`: the whole list, of which a page is sent; `next`: the cursor of the next page. */
export type Answer = {
  status: number;
  body: unknown;
  next?: string | null;
  pages?: (page: unknown[]) => unknown;
};

export type Backstage = {
  world: World;
  deliveries: Deliveries;
  story: ReturnType<typeof createStory>;
  tokens: ReturnType<typeof createTokens>;
  /** What a code of the manifest flow stands for, once. */
  convert: (code: string) => Registration | null;
};

export type Answerer = (asked: Asked, backstage: Backstage) => Answer | Promise<Answer>;

export const ok = (body: unknown, status = 200): Answer => ({ status, body });
export const list = (items: unknown[], pages: (page: unknown[]) => unknown = (page) => page): Answer => ({
  status: 200,
  body: items,
  pages,
});
export const NOT_FOUND = {
  status: 404,
  body: { message: "Not Found", documentation_url: "https://docs.github.com" },
};

/** There is no such thing, or not for this caller. */
export class Missing extends Error {}

export function repositoryOf({ parameters }: Asked, { world }: Backstage): Repository {
  const fullName = `${parameters["owner"]}/${parameters["repo"]}`;
  for (const it of world.repositories.values()) if (it.fullName === fullName) return it;
  throw new Missing();
}

export const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

export function found<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Missing();
  return value;
}
