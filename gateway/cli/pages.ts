/**
 * `bun run pages [GATEWAY]`: the console with hot reload, in front of a running gateway (http://127.0.0.1:8787 if none is
 * named). All other addresses are passed on to it, so one signs in as there.
 */
import index from "../pages/index.html";

const GATEWAY_DEFAULT = "http://127.0.0.1:8787";
const PORT = 8789;

const gateway = URL.parse(process.argv[2] ?? GATEWAY_DEFAULT);
if (!gateway) {
  process.stderr.write(`Expected a gateway's URL, such as ${GATEWAY_DEFAULT}\n`);
  process.exit(2);
}

/** As the gateway would get it: it refuses changes that another origin asks for. */
function passedOn(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const headers = new Headers(request.headers);
  headers.set("host", gateway?.host ?? "");
  if (headers.has("origin")) headers.set("origin", gateway?.origin ?? "");
  return fetch(new URL(pathname + search, gateway ?? undefined), {
    method: request.method,
    headers,
    body: request.body,
    redirect: "manual",
    decompress: false,
  });
}

const server = Bun.serve({
  port: PORT,
  hostname: "127.0.0.1",
  development: { hmr: true, console: true },
  routes: {
    "/v1/*": passedOn,
    "/admin/v1/*": passedOn,
    "/auth/*": passedOn,
    "/docs": passedOn,
    "/docs/*": passedOn,
    "/openapi": passedOn,
    "/openapi/*": passedOn,
    "/*": index,
  },
});
process.stderr.write(`The console with hot reload: ${server.url} (gateway: ${gateway.origin})\n`);
