import { join } from "node:path";
import { atEnd } from "#test/support/at-end.ts";

/** A registry that has the packed package in `directory`, and sends whoever asks for another package to npm's. */
export async function packageRegistry(tarball: string, directory: string): Promise<string> {
  const content = await Bun.file(tarball).bytes();
  const manifest = await Bun.file(join(directory, "package.json")).json();
  const integrity = `sha512-${new Bun.CryptoHasher("sha512").update(content).digest("base64")}`;
  const { name, version } = manifest;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      const { origin, pathname } = new URL(url);
      if (pathname === `/${name}.tgz`) return new Response(content);
      if (pathname !== `/${name}`) return Response.redirect(`https://registry.npmjs.org${pathname}`);
      const dist = { integrity, tarball: `${origin}/${name}.tgz` };
      const versions = { [version]: { ...manifest, dist } };
      return Response.json({ name, "dist-tags": { latest: version }, versions });
    },
  });
  atEnd(() => server.stop(true));
  return server.url.href;
}
