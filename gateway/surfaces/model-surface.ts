import { type DocumentDecoration, Elysia } from "elysia";
import { newId } from "#shared/ids.ts";
import { type Call, type SurfaceName, surfaceFacts } from "../call.ts";
import { GatewayError } from "../errors.ts";
import { type ExchangeDeps, exchange } from "../exchange.ts";
import { memberValue, scanJson } from "../http/scan.ts";
import { type Caller, clientKey, type KeyLookup } from "../plugins/client-key.ts";
import { readBody } from "./body.ts";

export type SurfaceDeps = ExchangeDeps & {
  directory: KeyLookup;
  /** Largest bodies accepted. */
  bytesMax: { json: number };
};

/** A surface whose calls are JSON and go through the exchange: its address, its key check, its documentation. */
export const modelSurface = (deps: SurfaceDeps, surface: SurfaceName, detail: DocumentDecoration) => {
  const { path, aliases = [] } = surfaceFacts(surface);
  const at = (address: string) =>
    new Elysia({ name: `surface.${address}` })
      .use(clientKey(deps.directory))
      .post(address, ({ request, caller }) => serve(deps, surface, caller, request), {
        clientKey: true,
        // The body is forwarded as it came, so nobody else may read it.
        parse: "none",
        detail,
      });
  return aliases.reduce(
    (all, alias) => all.use(at(alias)),
    new Elysia({ name: `surface.${surface}` }).use(at(path)),
  );
};

async function serve(
  deps: SurfaceDeps,
  surface: SurfaceName,
  caller: Caller,
  request: Request,
): Promise<Response> {
  const id = newId();
  try {
    return await exchange(deps, await admit(deps, { id, surface, caller, request }));
  } catch (error) {
    if (error instanceof GatewayError) error.requestId = id;
    throw error;
  }
}

type AdmitDeps = Pick<SurfaceDeps, "clock" | "bytesMax">;
type Arrival = { id: string; surface: SurfaceName; caller: Caller; request: Request };

/** The call as a value, once its body is whole. */
async function admit(
  { clock, bytesMax }: AdmitDeps,
  { id, surface, caller, request }: Arrival,
): Promise<Call> {
  if (isMultipart(request.headers)) throw new GatewayError("unsupported_media_type");
  const body = scanJson(await readBody(request, bytesMax.json));
  const { streamMember = STREAM } = surfaceFacts(surface);
  return {
    id,
    surface,
    ...caller,
    headers: request.headers,
    body,
    model: nameIn(memberValue(body, "model"), "model"),
    routeMember: nameIn(memberValue(body, "route"), "route"),
    streamed: memberValue(body, streamMember.name) === streamMember.value,
    signal: request.signal,
    admittedAt: clock.now(),
    admittedMonotonicMs: clock.monotonicMs(),
  };
}

const STREAM = { name: "stream", value: true } as const;

/** Said apart from a body that is no JSON, because some surfaces have both forms at their vendors. */
const isMultipart = (headers: Headers): boolean =>
  headers.get("content-type")?.toLowerCase().startsWith("multipart/") ?? false;

function nameIn(value: unknown, member: string): string | null {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value === "string") return value;
  throw new GatewayError("invalid_request", `\`${member}\` must be a string.`);
}
