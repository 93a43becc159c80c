const ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** HTML that needs no escaping. */
export type Html = { html: string };

const escaped = (value: unknown): string => String(value).replaceAll(/[&<>"']/g, (it) => ESCAPES[it] ?? "");

const shown = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(shown).join("");
  if (value === null || value === undefined || value === false) return "";
  return typeof value === "object" && "html" in value ? String(value.html) : escaped(value);
};

/** A template whose values are escaped, unless they are `Html`. */
export const html = (parts: TemplateStringsArray, ...values: unknown[]): Html => ({
  html: parts.map((part, index) => part + shown(values[index])).join(""),
});

const STYLE = `
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 52rem; padding: 0 1rem; }
code { background: #eee; border-radius: 3px; padding: 0.1em 0.3em; }
table { border-collapse: collapse; } th, td { text-align: left; padding: 0.2rem 0.8rem 0.2rem 0; vertical-align: top; }
label { display: block; margin: 0.8rem 0; } input { font: inherit; width: 100%; padding: 0.3rem; box-sizing: border-box; }
button { font: inherit; padding: 0.4rem 1rem; } .fault { border-left: 4px solid #c33; padding-left: 0.8rem; }
@media (prefers-color-scheme: dark) {
  body { background: #16181b; color: #e6e6e6; } code { background: #2b2f34; } a { color: #8ab4ff; }
}`;

/** A page without scripts. `formTarget`: another origin to which its form may be sent. */
export function page(content: Html, { status = 200, formTarget = "" } = {}): Response {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tallygate GitHub App</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Tallygate GitHub App</h1>
${content.html}
</body>
</html>
`;
  const formAction = `form-action 'self' ${formTarget}`.trim();
  return new Response(text, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; ${formAction}`,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    },
  });
}
