import { parser, Renderer, type Token } from "marked";

/** What a page decides about its tokens. */
export type Look = {
  /** Where a link or picture leads, as it is written; null: nowhere, so only its text is shown. */
  hrefOf(target: string): string | null;
  anchorOf(heading: Token): string | undefined;
  /** Levels by which headings are raised. */
  raise: number;
};

/** Tokens as HTML. HTML in the source is text, and its comments are left out. */
export function rendered(tokens: Token[], { hrefOf, anchorOf, raise }: Look): string {
  const renderer = new Renderer();
  const usual = { table: renderer.table.bind(renderer), image: renderer.image.bind(renderer) };
  renderer.heading = (token) => {
    const text = renderer.parser.parseInline(token.tokens);
    const level = token.depth - raise;
    const anchor = anchorOf(token) ?? "";
    return `<h${level} id="${anchor}">${text} <a class="anchor" href="#${anchor}" aria-hidden="true" tabindex="-1">#</a></h${level}>\n`;
  };
  renderer.link = ({ href, tokens }) => {
    const text = renderer.parser.parseInline(tokens);
    const to = hrefOf(href);
    return to === null ? text : `<a href="${Bun.escapeHTML(to)}">${text}</a>`;
  };
  renderer.image = (token) => {
    const src = hrefOf(token.href);
    return src === null ? "" : usual.image({ ...token, href: src });
  };
  // Anything wider than the page scrolls on its own, also with the keyboard.
  renderer.code = ({ text }) => `<pre tabindex="0"><code>${Bun.escapeHTML(text)}</code></pre>\n`;
  renderer.table = (token) => `<div class="table-scroll" tabindex="0">${usual.table(token)}</div>\n`;
  renderer.html = ({ text }) => Bun.escapeHTML(text.replaceAll(/<!--[\s\S]*?-->/g, ""));
  return parser(tokens, { renderer });
}
