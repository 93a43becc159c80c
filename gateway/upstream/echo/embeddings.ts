import { countOf, listOf, type ProviderObject } from "../../providers/provider-json.ts";
import { echoModel, echoTokens, jsonAnswer } from "./text.ts";

/** Default length of a vector. */
const DIMENSIONS = 64;
const DIMENSIONS_MAX = 4096;

export const echoDimensions = (asked: unknown): number =>
  Math.min(countOf(asked) || DIMENSIONS, DIMENSIONS_MAX);

/** The built-in provider's embeddings: the same text always has the same direction, texts that share words near ones. */
export function echoEmbeddings(body: ProviderObject): Response {
  const inputs = inputsOf(body["input"]);
  const dimensions = echoDimensions(body["dimensions"]);
  const encode = body["encoding_format"] === "base64" ? base64 : (vector: Float32Array) => [...vector];
  const tokens = inputs.reduce((sum, input) => sum + tokensOf(input), 0);
  return jsonAnswer({
    object: "list",
    data: inputs.map((input, index) => ({
      object: "embedding",
      index,
      embedding: encode(echoVector(input, dimensions)),
    })),
    model: echoModel(body),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

/** One text, several, the tokens of one, or those of several. */
type Input = string | readonly unknown[];

function inputsOf(input: unknown): Input[] {
  if (typeof input === "string") return [input];
  const list = listOf(input);
  if (list.every((one) => typeof one === "number")) return [list];
  return list.map((one) => (typeof one === "string" ? one : listOf(one)));
}

const tokensOf = (input: Input): number => (typeof input === "string" ? echoTokens(input) : input.length);

/** Every word adds its own direction; the sum has length 1. */
export function echoVector(input: Input, dimensions: number): Float32Array {
  const words = typeof input === "string" ? input.toLowerCase().split(/\s+/) : input.map(String);
  const vector = new Float32Array(dimensions);
  for (const word of words) {
    const hash = Number(BigInt(Bun.hash(word)) % BigInt(dimensions));
    vector[hash] = (vector[hash] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

/** 32-bit floats, little-endian, as the vendor's clients request. */
const base64 = (vector: Float32Array): string => Buffer.from(vector.buffer).toString("base64");
