import { Elysia } from "elysia";
import { newId } from "#shared/ids.ts";
import type { Call, CallSocket, HeaderView, JsonBody, Places, VendorAddress } from "../call.ts";
import { GatewayError, refuse } from "../errors.ts";
import { type ExchangeDeps, exchange } from "../exchange.ts";
import type { BodyBudget, BodyHold } from "../http/body-budget.ts";
import { boundaryOf, requireUtf8 } from "../http/content-type.ts";
import { CALL, GEMINI_CALL } from "../http/deciding-names.ts";
import { fieldsAsJson } from "../http/form-fields.ts";
import { forwardedQuery } from "../http/query.ts";
import { idsAnywhere } from "../http/references.ts";
import { booleanMember, memberValue, scanJson, stringMember } from "../http/scan.ts";
import { readBody } from "../plugins/body.ts";
import { type Caller, type CallerCheck, keyed } from "../plugins/client-key.ts";
import { supportsSurface } from "../providers/endpoint.ts";
import { SURFACE_NAMES, type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { toldHeaders } from "../upstream/answer-headers.ts";
import type { InFlight } from "../upstream/in-flight.ts";
import { declaredLength, openRequestBody, type RequestBodyDeps } from "../upstream/request-body.ts";
import { openUpload } from "../upstream/upload.ts";
import { modelDocs } from "./model-docs.ts";

export type SurfaceDeps = ExchangeDeps & {
  callers: CallerCheck;
  /** Largest bodies accepted. */
  bytesMax: { json: number; multipart: number };
  bodyBudget: BodyBudget;
  inFlight: InFlight;
  /** Closes the connection of a request, unless more of its answer is sent within seconds. */
  closeConnection(request: Request): void;
};

/** All surfaces whose calls go through the exchange and whose body names the model: a row of `SURFACES` is enough. */
export function modelSurfaces(deps: SurfaceDeps) {
  const all = new Elysia({ name: "surfaces.models" });
  // Not chained: the routes' types would only make the app's type too deep.
  for (const surface of SURFACE_NAMES) {
    const { path, aliases = [] } = surfaceFacts(surface);
    // The paths of Google's methods name the model (gemini.ts), those of a vendor are its own (pass-through.ts).
    if (path.includes("{")) continue;
    for (const address of [path, ...aliases]) all.use(at(deps, surface, address));
    for (const address of azureAddresses(surface)) all.use(azureAt(deps, surface, address));
  }
  return all;
}

const at = (deps: SurfaceDeps, surface: SurfaceName, address: string) =>
  keyed(deps, address).post(address, ({ request, caller }) => serve(deps, { surface, caller, request }), {
    clientKey: true,
    // The body is forwarded unchanged, so the framework must not read it.
    parse: "none",
    detail: modelDocs(surface),
  });

/** Where `AzureOpenAI` and clients of Azure's v1 API call a surface; none of other vendors' surfaces. */
const azureAddresses = (surface: SurfaceName): string[] =>
  supportsSurface({ kind: "azure", responses: true }, surface)
    ? ["/openai/v1", "/openai", "/openai/deployments/:deployment"].map(
        (root) => root + surfaceFacts(surface).path.slice("/v1".length),
      )
    : [];

/** The deployment in the path is the model, as on Azure, whatever the body names. */
const azureAt = (deps: SurfaceDeps, surface: SurfaceName, address: string) =>
  keyed(deps, address).post(
    address,
    ({ request, caller, params }: { request: Request; caller: Caller; params?: Record<string, string> }) =>
      serve(deps, { surface, caller, request, named: { model: params?.["deployment"] ?? null } }),
    { clientKey: true, parse: "none", detail: { hide: true } },
  );

/** Runs one call through the exchange. An error gets the id of the call. */
export async function serve(
  deps: SurfaceDeps,
  call: Omit<Arrival, "id" | "hold" | "places" | "closed">,
): Promise<Response> {
  const id = newId();
  const places = deps.inFlight.enter(call.caller.key.id);
  const hold = withPlaces(deps.bodyBudget.hold(), places);
  const closed: Arrival["closed"] = { row: null };
  try {
    const asForm = surfaceFacts(call.surface).form && isMultipart(call.caller.headers);
    return await exchange(
      deps,
      await (asForm ? admitForm : admit)(deps, { ...call, id, hold, places, closed }),
    );
  } catch (error) {
    hold.release();
    if (error instanceof GatewayError) {
      error.requestId = id;
      const isRecorded = closed.row !== null && !surfaceFacts(call.surface).unrecorded;
      const recorded = { id, headers: call.caller.headers, closed };
      if (isRecorded) error.headers = { ...error.headers, ...toldHeaders(recorded) };
    }
    throw error;
  }
}

/** The places are given back with the memory: when the record of the call is closed. */
const withPlaces = (hold: BodyHold, places: Places): BodyHold => ({
  ...hold,
  release() {
    hold.release();
    places.release();
  },
});

type AdmitDeps = RequestBodyDeps & Pick<SurfaceDeps, "bytesMax" | "closeConnection">;
type Arrival = {
  id: string;
  hold: BodyHold;
  places: Places;
  closed: NonNullable<Call["closed"]>;
  surface: SurfaceName;
  caller: Caller;
  request: Request;
  /** What a path that is not the surface's own says: the model, and in Google's and Bedrock's whether to stream. */
  named?: { model: string | null; streamed?: boolean };
  vendor?: VendorAddress;
  /** Makes the surface's body of one in another form, or says which surface has the body's own. */
  read?(bytes: Uint8Array): { surface: SurfaceName; bytes: Uint8Array };
  socket?: CallSocket;
};

/** The call as a value, once its body is whole. */
async function admit(deps: AdmitDeps, arrival: Arrival): Promise<Call> {
  const { bytesMax } = deps;
  const { hold, caller, request, named } = arrival;
  const { form, streamMember, methods } = surfaceFacts(arrival.surface);
  if (form === "only") throw new GatewayError("unsupported_media_type", EXPECTS_FORM);
  if (isMultipart(caller.headers)) throw new GatewayError("unsupported_media_type");
  const limits = { bytesMax: bytesMax.json, hold, headers: caller.headers };
  const received = arrival.vendor?.empty ? NOTHING : await readBody(deps, request, limits);
  const read = arrival.read?.(received);
  const body = scanJson(read?.bytes ?? received, methods ? GEMINI_CALL : CALL);
  const asked = () => {
    const stream = booleanMember(body, "stream");
    return streamMember ? memberValue(body, streamMember.name) === streamMember.value : stream;
  };
  const streamed = named?.streamed ?? arrival.vendor?.streams ?? asked();
  return arrived(read ? { ...arrival, surface: read.surface } : arrival, { body, streamed }, deps);
}

const NOTHING = new TextEncoder().encode("{}");
const EXPECTS_FORM = "This surface accepts multipart/form-data.";

/** The call, once the form has arrived up to its first file; the rest is streamed. */
async function admitForm(deps: AdmitDeps, arrival: Arrival): Promise<Call> {
  const { clock, bytesMax } = deps;
  const { caller, request } = arrival;
  requireUtf8(caller.headers);
  const boundary = boundaryOf(caller.headers.get("content-type"));
  if (boundary === null) refuse("The form names no boundary.");
  const { routes, models } = caller.key.scopes;
  const { fields, upload } = await openUpload(openRequestBody(request, bytesMax.multipart, deps), {
    boundary,
    contentLength: declaredLength(caller.headers),
    scoped: routes !== undefined || models !== undefined,
    hold: arrival.hold,
    clock,
    signal: request.signal,
  });
  const { stream, n, model } = Object.fromEntries(fields);
  const { named } = arrival;
  if (named?.model && model !== undefined && model !== named.model)
    refuse("`model` differs from the deployment in the address.");
  const streamed = stream === "true";
  const body = fieldsAsJson(fields, {
    ...(stream !== undefined && { stream: streamed }),
    ...(/^[1-9]\d{0,2}$/.test(n ?? "") && { n: Number(n) }),
  });
  return { ...arrived(arrival, { body: scanJson(body), streamed }, deps), upload };
}

const arrived = (
  { id, hold, places, closed, surface, caller, request, named, vendor, socket }: Arrival,
  { body, streamed }: { body: JsonBody; streamed: boolean },
  { clock, closeConnection }: Pick<AdmitDeps, "clock" | "closeConnection">,
): Call => ({
  id,
  surface,
  key: caller.key,
  passthroughCredential: caller.passthroughCredential,
  headers: caller.headers,
  // It says how a stream is framed, which the gateway decides, or which version of another vendor's address this is.
  query: named ? "" : forwardedQuery(request.url),
  body,
  // As Google's bodies name it.
  model: named?.model ?? stringMember(body, "model")?.replace(vendor ? /^models\// : "", "") ?? null,
  routeMember: vendor ? null : stringMember(body, "route"),
  ...(vendor && { vendor: { ...vendor, ids: [...vendor.ids, ...idsAnywhere(body)] } }),
  streamed,
  signal: request.signal,
  closeConnection: () => closeConnection(request),
  memory: hold,
  places,
  closed,
  ...(socket && { socket }),
  admittedAt: clock.now(),
  admittedMonotonicMs: clock.monotonicMs(),
});

/** Said apart from a body that is no JSON, because some surfaces have both forms at their vendors. */
const isMultipart = (headers: HeaderView): boolean =>
  headers.get("content-type")?.toLowerCase().startsWith("multipart/") ?? false;
