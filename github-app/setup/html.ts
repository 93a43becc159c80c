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
:root { color-scheme: light dark; --line: #d5d9de; --soft: #f3f5f7; --text: #1c2024; --mute: #5c656e; --link: #1f5fc4;
  --go: #1f5fc4; --on-go: #fff; --good: #1a7f4b; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --line: #3a4047; --soft: #22262b; --text: #e6e8ea; --mute: #a2abb4;
  --link: #8ab4ff; --go: #8ab4ff; --on-go: #10141a; --good: #5fd39a; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: Canvas; margin: 2rem auto; max-width: 56rem;
  padding: 0 1rem; }
@media (prefers-color-scheme: dark) { body { background: #16181b; } }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
a { color: var(--link); } .mute { color: var(--mute); }
code { background: var(--soft); border-radius: 3px; padding: 0.1em 0.3em; overflow-wrap: anywhere; }
.fault { border-left: 4px solid var(--bad); padding: 0.1rem 0 0.1rem 0.8rem; }
label { display: block; margin: 0.8rem 0; }
input { font: inherit; width: 100%; min-height: 2.75rem; padding: 0.3rem 0.6rem; color: inherit; background: var(--soft);
  border: 1px solid var(--line); border-radius: 6px; }
button { font: inherit; min-height: 2.75rem; padding: 0.4rem 1.1rem; color: var(--on-go); background: var(--go);
  border: 1px solid transparent; border-radius: 6px; cursor: pointer; }
button.quiet { color: var(--text); background: var(--soft); border-color: var(--line); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
ol.steps { list-style: none; margin: 1rem 0; padding: 0; border: 1px solid var(--line); border-radius: 6px; }
ol.steps > li { display: grid; grid-template-columns: 2rem 1fr; gap: 0 0.5rem; padding: 0.8rem 1rem; }
ol.steps > li + li { border-top: 1px solid var(--line); }
ol.steps > li > .mark { font-weight: 600; color: var(--mute); } ol.steps > li.done > .mark { color: var(--good); }
ol.steps p { margin: 0.2rem 0; } ol.steps > li.current { background: var(--soft); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.4rem 0.8rem 0.4rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
td { overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  body { margin: 1rem auto; } button { width: 100%; }
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  tr { display: block; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  td { display: grid; grid-template-columns: 8rem 1fr; gap: 0.5rem; padding: 0.1rem 0; border: 0; }
  td::before { content: attr(data-label); color: var(--mute); }
}`;

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** An instant for people, e.g. `24 Nov 2026, 07:00 UTC`. */
export const timeText = (instant: string): Html =>
  html`<time datetime="${instant}">${TIME.format(new Date(instant))} UTC</time>`;

/** A table that becomes a list of cards on a phone. */
export const table = (heads: readonly string[], rows: readonly unknown[][]): Html => html`<table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell, at) => html`<td data-label="${heads[at]}"><span>${cell}</span></td>`)}</tr>\n`)}</tbody>
</table>`;

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
      ...(againSeconds > 0 ? { refresh: String(againSeconds) } : {}),
    },
  });
}
