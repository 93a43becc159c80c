import { newRegistration, type Registration, type World } from "./world.ts";

/** The parts of a manifest that GitHub needs. */
type Manifest = {
  name?: string;
  url: string;
  hook_attributes: { url: string; active?: boolean };
  redirect_url: string;
  public?: boolean;
  default_permissions?: Record<string, string>;
  default_events?: string[];
};

const NEW_APP = /^(\/organizations\/[^/]+)?\/settings\/apps\/new$/;

/**
 * The pages where a person makes an App of a manifest, for a person who agrees at once: the form's manifest becomes a
 * code, and the browser is sent back with it.
 */
export function createManifestPages(world: World) {
  const codes = new Map<string, Registration>();
  const manifests: { manifest: Manifest; organization: string | null }[] = [];
  return {
    manifests,
    /** The App that a code stands for, once; from now on it is the App that GitHub knows. */
    convert: (code: string): Registration | null => {
      const made = codes.get(code) ?? null;
      codes.delete(code);
      if (made) Object.assign(world.app, made);
      return made;
    },
    answer: async (request: Request, url: URL): Promise<Response | null> => {
      const match = NEW_APP.exec(url.pathname);
      if (!match || request.method !== "POST") return null;
      const form = new URLSearchParams(await request.text());
      const manifest = JSON.parse(form.get("manifest") ?? "") as Manifest;
      manifests.push({ manifest, organization: match[1]?.split("/").at(-1) ?? null });
      const code = crypto.randomUUID();
      codes.set(
        code,
        newRegistration({
          id: world.newId(),
          name: manifest.name ?? "App",
          permissions: manifest.default_permissions ?? {},
          events: manifest.default_events ?? [],
          hookUrl: manifest.hook_attributes.url,
        }),
      );
      const back = new URL(manifest.redirect_url);
      back.searchParams.set("code", code);
      back.searchParams.set("state", url.searchParams.get("state") ?? "");
      return new Response(null, { status: 302, headers: { location: String(back) } });
    },
  };
}
