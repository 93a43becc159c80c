import { countOf, listOf, objectOf, type ProviderObject } from "../../providers/provider-json.ts";
import { echoModel, jsonAnswer } from "./text.ts";

/** Documents that one search unit pays for: Cohere's rule. */
const DOCUMENTS_PER_UNIT = 100;

/** The built-in provider's ranking, in Cohere's shape: by the share of the query's words that a document has. */
const rerankAs =
  (version: "1" | "2") =>
  (body: ProviderObject, id: string): Response => {
    const documents = listOf(body["documents"]);
    const query = wordsOf(String(body["query"] ?? ""));
    const results = documents
      .map((document, index) => ({
        index,
        relevance_score: scoreOf(query, wordsOf(textOf(document))),
        ...(body["return_documents"] === true ? { document: { text: textOf(document) } } : {}),
      }))
      .toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
      .slice(0, countOf(body["top_n"]) ?? documents.length);
    const units = Math.ceil(documents.length / DOCUMENTS_PER_UNIT);
    const meta = { api_version: { version }, billed_units: { search_units: units } };
    return jsonAnswer({ id: `rerank-echo-${id}`, model: echoModel(body), results, meta });
  };

export const echoRerank = rerankAs("1");
export const echoRerankV2 = rerankAs("2");

function textOf(document: unknown): string {
  const text = typeof document === "string" ? document : objectOf(document)?.["text"];
  return typeof text === "string" ? text : "";
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));

function scoreOf(query: ReadonlySet<string>, words: ReadonlySet<string>): number {
  if (query.size === 0) return 0;
  const shared = [...query].filter((word) => words.has(word)).length;
  return Math.round((shared / query.size) * 10_000) / 10_000;
}
