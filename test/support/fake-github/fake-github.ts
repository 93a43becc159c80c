import { atEnd } from "#test/support/at-end.ts";
import { type Caller, createTokens, refusal } from "./access.ts";
import { answerTo } from "./answers.ts";
import type { Answer, Backstage } from "./asked.ts";
import { answerFaults } from "./check-answer.ts";
import { createDeliveries } from "./deliveries.ts";
import { createManifestPages } from "./manifest-pages.ts";
import { OPERATIONS, type Operation } from "./operations.ts";
import { createPatience } from "./patience.ts";
import { createRateLimit, type RateLimit } from "./rate-limit.ts";
import { createSignInPages } from "./sign-in-pages.ts";
import { createStory } from "./story.ts";
import { type Installation, newWorld } from "./world.ts";

export type FakeGithubOptions = {
  now?: () => Date;
  /** Calls an hour of one installation; the default is GitHub's least. */
  rateLimit?: RateLimit;
  port?: number;
  /** How long every answer takes, in milliseconds. */
  slowMs?: number;
};

/** What goes wrong: for the next `times` calls (default 1) of this operation, or of any. */
export type Failure = {
  operation?: Operation;
  status: number;
  headers?: Record<string, string>;
  message?: string;
  times?: number;
};

/**
 * GitHub on loopback: its REST API as far as operations.ts names it (also under `/api/v3`, as an Enterprise Server has
 * it), webhook deliveries, and the pages by which an App is made of a manifest. Every answer is held against GitHub's
 * own OpenAPI description and every delivery against its webhook schemas: `faults` must stay empty.
 */
export function startFakeGithub(options: FakeGithubOptions = {}) {
  const now = options.now ?? (() => new Date());
  const world = newWorld(now);
  const deliveries = createDeliveries(now, world.newId, () =>
    world.app.hookUrl === null ? null : { url: world.app.hookUrl, secret: world.app.webhookSecret },
  );
  const story = createStory(world, deliveries);
  const tokens = createTokens(world, now);
  const pages = createManifestPages(world);
  const signIn = createSignInPages(world);
  const backstage: Backstage = { world, deliveries, story, tokens, convert: pages.convert };
  const limits = createRateLimit(now, options.rateLimit);
  const patience = createPatience(now);
  const failures: Failure[] = [];
  const meanwhile = new Map<Operation, () => unknown>();
  const calls: Operation[] = [];
  const faults: string[] = [];

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    fetch: async (request) => {
      const url = new URL(request.url);
      const page = (await pages.answer(request, url)) ?? (await signIn.answer(request, url));
      if (page) return page;
      const path = url.pathname.replace(/^\/api(\/v3)?(?=\/)/, "");
      const match = route(request.method, path);
      if (!match) return Response.json({ message: "Not Found", path }, { status: 404 });
      calls.push(match.operation);
      const caller = callerName(tokens.callerOf(request.headers.get("authorization")));
      patience.begin(caller, match.operation, isWrite(match.operation));
      try {
        return await limitedAnswer(request, url, { ...match, caller });
      } finally {
        patience.end(caller);
      }
    },
  });
  const url = `http://127.0.0.1:${server.port}`;

  async function limitedAnswer(
    request: Request,
    at: URL,
    match: Match & { caller: string },
  ): Promise<Response> {
    const { operation, caller } = match;
    const failure = takeFailure(failures, operation);
    if (failure) {
      const seconds = Number(failure.headers?.["retry-after"] ?? 0);
      if (seconds > 0) patience.askToWait(caller, seconds * 1000);
      return failed(failure);
    }
    const { refused, waitMs } = limits.take(caller);
    if (waitMs > 0) patience.askToWait(caller, waitMs);
    if (refused) {
      const headers = { ...limits.headers(caller), date: now().toUTCString() };
      return Response.json({ message: "API rate limit exceeded" }, { status: 403, headers });
    }
    await Bun.sleep(options.slowMs ?? 0);
    await meanwhile.get(operation)?.();
    const answer = await answered(request, at, match);
    faults.push(...(answer.status < 400 ? answerFaults(operation, answer.status, answer.body) : []));
    const etag = request.method === "GET" && answer.status === 200 ? etagOf(request, answer) : null;
    const isKnown = etag !== null && request.headers.get("if-none-match") === etag;
    if (isKnown) limits.giveBack(caller);
    const headers = {
      ...{ ...limits.headers(caller), ...linkOf(at, answer), date: now().toUTCString() },
      ...(etag === null ? {} : { etag }),
    };
    if (isKnown) return new Response(null, { status: 304, headers });
    return Response.json(answer.body, { status: answer.status, headers });
  }

  async function answered(request: Request, at: URL, { operation, parameters }: Match): Promise<Answer> {
    const caller = tokens.callerOf(request.headers.get("authorization"));
    const { owner, repo } = parameters;
    const refused = refusal(caller, operation, owner ? `${owner}/${repo}` : null);
    if (refused !== null) return { status: refused, body: { message: REFUSED[refused] ?? "Refused" } };
    const sent = request.method === "GET" ? "" : await request.text();
    const body = sent === "" ? {} : JSON.parse(sent);
    const answer = await answerTo(
      operation,
      { parameters, query: at.searchParams, body, caller, api: url },
      backstage,
    );
    return answer.pages ? paged(at, answer) : answer;
  }

  return {
    url,
    /** For `GHE_HOST`, with `GHE_PROTOCOL=http`. */
    host: `127.0.0.1:${server.port}`,
    world,
    app: world.app,
    story,
    deliveries,
    /** Every operation asked for, in order. */
    calls,
    /** Where answers or deliveries depart from GitHub's own descriptions. */
    faults: () => [...faults, ...deliveries.faults],
    /** Does something while each call of this operation waits for its answer; null: nothing any more. */
    onCall: (operation: Operation, deed: (() => unknown) | null) =>
      deed === null ? meanwhile.delete(operation) : meanwhile.set(operation, deed),
    fail: (failure: Failure) => failures.push(failure),
    personalToken: tokens.personal,
    /** As a workflow has it. */
    installationToken: (installation: Installation) => tokens.issue(installation).token,
    signIn: signIn.state,
    limits,
    /** How patient callers were. */
    patience: patience.seen,
    revokeTokens: tokens.revoke,
    deliverTo: (hookUrl: string) => {
      world.app.hookUrl = hookUrl;
    },
    stop: atEnd(() => server.stop(true)),
  };
}

export type FakeGithub = ReturnType<typeof startFakeGithub>;

const REFUSED: Record<number, string> = {
  401: "Bad credentials",
  403: "Resource not accessible by integration",
  404: "Not Found",
};

/** By what GitHub counts calls. */
const callerName = (caller: Caller): string =>
  caller.kind === "installation" ? `installation ${caller.installation.id}` : caller.kind;

const isWrite = (operation: Operation): boolean =>
  !operation.startsWith("GET ") && !/(access_tokens|conversions|graphql)$/.test(operation);

/** GitHub's differ from token to token. */
const etagOf = (request: Request, { body }: Answer): string =>
  `W/"${new Bun.CryptoHasher("sha256").update(JSON.stringify([body, request.headers.get("authorization")])).digest("hex")}"`;

type Match = { operation: Operation; parameters: Record<string, string> };

const ROUTES = OPERATIONS.map((operation) => {
  const [method = "", template = ""] = operation.split(" ");
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return { operation, method, names, pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, "([^/]+)")}$`) };
});

function route(method: string, path: string): Match | null {
  for (const it of ROUTES) {
    const values = it.method === method ? it.pattern.exec(path) : null;
    if (!values) continue;
    const entries = it.names.map((name, index) => [name, decodeURIComponent(values[index + 1] ?? "")]);
    return { operation: it.operation, parameters: Object.fromEntries(entries) };
  }
  return null;
}

function takeFailure(failures: Failure[], operation: Operation): Failure | null {
  const index = failures.findIndex((it) => it.operation === undefined || it.operation === operation);
  const failure = failures[index];
  if (!failure) return null;
  failure.times = (failure.times ?? 1) - 1;
  if (failure.times <= 0) failures.splice(index, 1);
  return failure;
}

const failed = ({ status, headers, message }: Failure) =>
  Response.json({ message: message ?? "Something went wrong" }, { status, headers: headers ?? {} });

function paged(url: URL, answer: Answer): Answer {
  const all = answer.body as unknown[];
  const perPage = Math.min(Number(url.searchParams.get("per_page") ?? 30), 100);
  const page = Number(url.searchParams.get("page") ?? 1);
  const body = answer.pages?.(all.slice((page - 1) * perPage, page * perPage));
  return { status: answer.status, body, next: all.length > page * perPage ? `page=${page + 1}` : null };
}

function linkOf(url: URL, { next, pages }: Answer): Record<string, string> {
  if (!next) return {};
  const to = new URL(url);
  const [name = "", value = ""] = next.includes("=") ? next.split("=") : ["cursor", next];
  to.searchParams.set(name, value);
  return pages === undefined || next ? { link: `<${to}>; rel="next"` } : {};
}
