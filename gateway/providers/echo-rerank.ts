import { jsonAnswer, requestIdOf } from "./echo-text.ts";
import { countOf, listOf, nameOf, objectOf, type Told } from "./provider-json.ts";

/** Documents that one search unit pays for: Cohere's rule. */
const DOCUMENTS_PER_UNIT = 100;

/** The built-in provider's ranking, in Cohere's shape: by the share of the query's words that a document has. */
const rerankAs =
  (version: "1" | "2") =>
  (body: Told, id: string): Response => {
    const documents = listOf(body["documents"]);
    const asked = wordsOf(String(body["query"] ?? ""));
    const results = documents
      .map((document, index) => ({
        index,
        relevance_score: scoreOf(asked, wordsOf(textOf(document))),
        ...(body["return_documents"] === true ? { document: { text: textOf(document) } } : {}),
      }))
      .toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
      .slice(0, countOf(body["top_n"]) ?? documents.length);
    const units = Math.ceil(documents.length / DOCUMENTS_PER_UNIT);
    const meta = { api_version: { version }, billed_units: { search_units: units } };
    const answer = { id: `rerank-echo-${id}`, model: nameOf(body["model"]) ?? "echo", results, meta };
    return jsonAnswer(answer, 200, requestIdOf(id));
  };

export const echoRerank = rerankAs("1");
export const echoRerankV2 = rerankAs("2");

function textOf(document: unknown): string {
  const text = typeof document === "string" ? document : objectOf(document)?.["text"];
  return typeof text === "string" ? text : "";
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));

function scoreOf(asked: ReadonlySet<string>, words: ReadonlySet<string>): number {
  if (asked.size === 0) return 0;
  const shared = [...asked].filter((word) => words.has(word)).length;
  return Math.round((shared / asked.size) * 10_000) / 10_000;
}
