import { type DocumentDecoration, Elysia } from "elysia";
import { newId } from "#shared/ids.ts";
import { type Call, SURFACES, type SurfaceName } from "../call.ts";
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
export const modelSurface = (deps: SurfaceDeps, surface: SurfaceName, detail: DocumentDecoration) =>
  new Elysia({ name: `surface.${surface}` })
    .use(clientKey(deps.directory))
    .post(SURFACES[surface].path, ({ request, caller }) => serve(deps, surface, caller, request), {
      clientKey: true,
      // The body is forwarded as it came, so nobody else may read it.
      parse: "none",
      detail,
    });

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
  const body = scanJson(await readBody(request, bytesMax.json));
  return {
    id,
    surface,
    ...caller,
    headers: request.headers,
    body,
    model: nameIn(memberValue(body, "model"), "model"),
    routeMember: nameIn(memberValue(body, "route"), "route"),
    streamed: memberValue(body, "stream") === true,
    signal: request.signal,
    admittedAt: clock.now(),
    admittedMonotonicMs: clock.monotonicMs(),
  };
}

function nameIn(value: unknown, member: string): string | null {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value === "string") return value;
  throw new GatewayError("invalid_request", `\`${member}\` must be a string.`);
}
