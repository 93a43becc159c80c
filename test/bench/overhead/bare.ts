/** The floor of what a proxy on Bun costs: reads the request, sends it on, and passes the answer back. `bun bare.ts PORT UPSTREAM` */
const [, , port, upstream] = process.argv;

Bun.serve({
  port: Number(port),
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const body = request.method === "POST" ? await request.arrayBuffer() : undefined;
    const { method, headers } = request;
    return fetch(`${upstream}${pathname}`, { method, headers, ...(body && { body }), decompress: false });
  },
});
