import type { BunRequest } from "bun";

type Answer = (request: Request) => Response | Promise<Response>;

/** More segments than any address has, with room for slashes in a model's name. */
const SEGMENTS_MAX = 16;

/**
 * Routes of `Bun.serve` for every path that no other route matches. Bun matches routes by the path as it was sent, but in
 * `request.url` it turns backslashes into slashes and resolves dot segments. So a proxy in front may have allowed another
 * path than a handler reads. Where the two differ, `refuse` answers, else `answer`.
 */
export function pathsAsSent(answer: Answer, refuse: Answer) {
  const either = (request: BunRequest) => (isAsSent(request) ? answer(request) : refuse(request));
  const routes: Record<string, typeof either> = { "/*": either };
  let path = "";
  for (let segment = 1; segment <= SEGMENTS_MAX; segment++) {
    path += `/:s${segment}`;
    routes[path] = either;
    // Also matches a slash at the end.
    routes[`${path}/*`] = either;
  }
  return routes;
}

/** Whether the path in `url` consists of the segments that were sent, ignoring a slash at the end. */
function isAsSent({ url, params }: BunRequest): boolean {
  const sent = Object.values<string>(params);
  const read = new URL(url).pathname.slice(1).split("/");
  if (read.at(-1) === "") read.pop();
  return read.length === sent.length && read.every((segment, index) => decoded(segment) === sent[index]);
}

/** Null: not percent-encoded UTF-8. */
function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
