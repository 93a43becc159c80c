import GithubSlugger from "github-slugger";
import { lexer, type Token } from "marked";

/** Part of a file from one heading of level 1 or 2 to the next. */
export type DocsSection = { heading: string; tokens: Token[] };

export type DocsFile = {
  file: string;
  sections: DocsSection[];
  /** The anchor of each heading, as GitHub makes them. */
  anchors: ReadonlyMap<Token, string>;
};

/** Reads Markdown. What is before the first heading has no section. */
export function readDocs(file: string, text: string): DocsFile {
  const slugger = new GithubSlugger();
  const sections: DocsSection[] = [];
  const anchors = new Map<Token, string>();
  for (const token of lexer(text)) {
    if (token.type === "heading") {
      const heading = seenText([token]);
      anchors.set(token, slugger.slug(heading));
      if (token["depth"] <= 2) sections.push({ heading, tokens: [] });
    }
    sections.at(-1)?.tokens.push(token);
  }
  return { file, sections, anchors };
}

const LEAVES = ["text", "escape", "codespan", "code"];
const INLINE = ["text", "escape", "codespan", "strong", "em", "del", "link"];

/** What a reader sees of tokens, without marks. */
export const seenText = (tokens: readonly Token[]): string =>
  tokens.map(textOf).join("").replaceAll(/\s+/g, " ").trim();

function textOf(token: Token): string {
  const text =
    insideOf(token).map(textOf).join("") ||
    (LEAVES.includes(token.type) && "text" in token ? token.text : "");
  return INLINE.includes(token.type) ? text : `${text} `;
}

/** A list item and a table's cell count as paragraphs. */
function insideOf(token: Token): readonly Token[] {
  const asBlock = ({ tokens }: { tokens: Token[] }): Token => ({
    type: "paragraph",
    raw: "",
    text: "",
    tokens,
  });
  if (token.type === "table") return [...token["header"], ...token["rows"].flat()].map(asBlock);
  if (token.type === "list") return token["items"].map(asBlock);
  return ("tokens" in token && token.tokens) || [];
}

/** Where the links and pictures of a file lead, as they are written. */
export const targetsOf = ({ sections }: DocsFile): string[] =>
  sections.flatMap(({ tokens }) => tokens).flatMap(targetsIn);

const targetsIn = (token: Token): string[] =>
  token.type === "link" || token.type === "image" ? [token["href"]] : insideOf(token).flatMap(targetsIn);
