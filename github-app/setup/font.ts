const FONT = import.meta.resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2");

/** The pages' typeface. The address does not name its content, so browsers ask again after a day. */
export const fontFile = (): Response =>
  new Response(Bun.file(Bun.fileURLToPath(FONT)), {
    headers: {
      "content-type": "font/woff2",
      "cache-control": "public, max-age=86400",
      "x-content-type-options": "nosniff",
    },
  });
