import { STYLE } from "./style.ts";

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

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** An instant for people, e.g. `24 Nov 2026, 07:00 UTC`. */
export const timeText = (instant: string): Html =>
  html`<time datetime="${instant}">${TIME.format(new Date(instant))} UTC</time>`;

/** A table that becomes a list of cards on a phone. */
export const table = (heads: readonly string[], rows: readonly unknown[][]): Html => html`<table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell, at) => html`<td data-label="${heads[at]}"><span>${cell}</span></td>`)}</tr>\n`)}</tbody>
</table>`;

const BRAND = `<svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#3b4cca"/><path d="M9 9v14M14 9v14M19 9v14M24 9v14M6 21 27 11" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/></svg>`;

/**
 * A page without scripts. `formTarget`: another origin to which its form may be sent; `againSeconds`: when a browser
 * loads it again; 0: it does not.
 */
export function page(content: Html, { status = 200, formTarget = "", againSeconds = 0 } = {}): Response {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tallygate GitHub App</title>
<style>${STYLE}</style>
</head>
<body>
<p class="brand">${BRAND} Tallygate</p>
<h1>GitHub App</h1>
${content.html}
</body>
</html>
`;
  const formAction = `form-action 'self' ${formTarget}`.trim();
  return new Response(text, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `default-src 'none'; style-src 'unsafe-inline'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; ${formAction}`,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      ...(againSeconds > 0 ? { refresh: String(againSeconds) } : {}),
    },
  });
}
