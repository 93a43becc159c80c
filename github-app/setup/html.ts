/** HTML that needs no escaping. */
export type Html = { html: string };

const shown = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(shown).join("");
  if (value === null || value === undefined || value === false) return "";
  return typeof value === "object" && "html" in value ? String(value.html) : Bun.escapeHTML(String(value));
};

/** A template whose values are escaped, unless they are `Html`. */
export const html = (parts: TemplateStringsArray, ...values: unknown[]): Html => ({
  html: parts.map((part, index) => part + shown(values[index])).join(""),
});

/** The look of the console: its colours are those of shared/tokens.css. */
export const STYLE = `
:root { color-scheme: light dark; --bg: #fff; --soft: #f6f7f9; --line: #e4e7ec; --ink: #101828; --accent: #3b4cca; --on-accent: #fff; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --bg: #0d1117; --soft: #161c26; --line: #262d3a; --ink: #e6e9ef; --accent: #9aa6ff; --on-accent: #0d1117; --bad: #f97066; } }
* { box-sizing: border-box; }
body { font: 14px/1.45 ui-sans-serif, system-ui, sans-serif; color: var(--ink); background: var(--bg); margin: 24px auto; max-width: 40rem; padding: 0 16px; }
h1 { font-size: 20px; font-weight: 600; } a { color: var(--accent); }
code { background: var(--soft); border-radius: 4px; padding: 0.1em 0.3em; font-size: 13px; overflow-wrap: anywhere; }
.fault { border-left: 3px solid var(--bad); padding: 2px 12px; }
label { display: block; margin: 16px 0; font-size: 13px; font-weight: 500; }
input, button { font: inherit; min-height: 36px; padding: 4px 10px; border: 1px solid var(--line); border-radius: 6px; }
input { width: 100%; margin-top: 2px; color: inherit; background: var(--bg); }
button { font-weight: 600; padding: 4px 18px; color: var(--on-accent); background: var(--accent); cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }`;

/** A page without scripts. `formTarget`: another origin to which its form may be sent; `next`: where it leads at once. */
export function page(content: Html, { status = 200, formTarget = "", next = "" } = {}): Response {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tallygate GitHub App</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Tallygate GitHub App</h1>
${content.html}
</main>
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
      ...(next !== "" && { refresh: `0; url=${next}` }),
    },
  });
}
