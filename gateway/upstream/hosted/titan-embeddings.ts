import { refuse } from "../../errors.ts";
import { memberValue, scanJson } from "../../http/scan.ts";
import { listOf } from "../../providers/provider-json.ts";
import { clientErrorBody } from "../../translate/error-shapes.ts";
import { jsonBytes, objectInBytes } from "../../translate/exact-json.ts";
import type { Sending } from "../send.ts";

const TITAN = /(?:^|[./])amazon\.titan-embed-text-/;
const ENCODINGS: readonly unknown[] = [undefined, null, "float", "base64"];

/** An embeddings request in Titan's form (AWS, "Amazon Titan Text Embeddings"). @throws GatewayError invalid_request */
export function titanRequest({ body: bytes }: Pick<Sending, "body">, model: string): Uint8Array {
  if (!TITAN.test(model))
    refuse(
      "On Bedrock, this address serves `amazon.titan-embed-text-…` models; `/model/{model}/invoke` serves others.",
    );
  const body = scanJson(bytes);
  const [input, dimensions, encoding] = ["input", "dimensions", "encoding_format"].map((name) =>
    memberValue(body, name),
  );
  const [inputText, ...more] = Array.isArray(input) ? input : [input];
  if (typeof inputText !== "string" || more.length > 0)
    refuse("Titan models embed one text per call: `input` must be a text, or a list of one text.");
  if (!ENCODINGS.includes(encoding)) refuse("`encoding_format` must be float or base64.");
  return jsonBytes({ inputText, ...(dimensions != null && { dimensions }) });
}

/** Titan's answer in OpenAI's form; a refusal keeps its sentence. */
export async function titanAnswer(answer: Response, { body, target: { model } }: Sending): Promise<Response> {
  const { status } = answer;
  const headers = new Headers(answer.headers);
  for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  const told = objectInBytes(await answer.bytes());
  const vector = listOf(told?.["embedding"]).map(Number);
  if (!answer.ok || vector.length === 0)
    return Response.json(clientErrorBody("chat", { status, body: told, requestId: null }), {
      status,
      headers,
    });
  const isBase64 = memberValue(scanJson(body), "encoding_format") === "base64";
  const embedding = isBase64 ? Buffer.from(new Float32Array(vector).buffer).toString("base64") : vector;
  const prompt_tokens = told?.["inputTextTokenCount"];
  const data = [{ object: "embedding", index: 0, embedding }];
  const usage = { prompt_tokens, total_tokens: prompt_tokens };
  return Response.json({ object: "list", data, model, usage }, { headers });
}
