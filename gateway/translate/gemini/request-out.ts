import { type Json, objectIn } from "../exact-json.ts";
import { extrasAs } from "../members.ts";
import { inexpressible, lose } from "../place.ts";
import type { Part, PartOf, Prompt, PromptTurn, Tool } from "../prompt.ts";
import { titledText } from "../sources.ts";
import { UNKNOWN_SIGNATURE } from "../thoughts.ts";
import { argumentsObject } from "../tool-arguments.ts";
import { withItemSchemas } from "../tool-schema.ts";
import { geminiSearch } from "../web-search.ts";
import { GEMINI_3, thinkingConfig } from "./thinking-out.ts";

/** The prompt as a generateContent request; its model and whether it is streamed are in the address. */
export function writeGeminiRequest(prompt: Prompt, model: string): Json {
  const system = prompt.turns.filter(({ role }) => role === "system").flatMap(systemParts);
  const generationConfig = configOf(prompt, model);
  return {
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    contents: contentsOf(
      prompt.turns.filter(({ role }) => role !== "system"),
      model,
    ),
    ...toolMembers(prompt),
    ...(Object.keys(generationConfig).length > 0 ? { generationConfig } : {}),
  };
}

/** Models that refuse a JSON answer beside functions with 400. */
export const lacksJsonWithTools = (model: string): boolean => /(?:^|\/)gemini-[12]\b/.test(model);

/** Stop sequences that a request may have. */
const STOPS_MAX = 5;

const OWN_NAMES = new Map([
  ["top_k", "topK"],
  ["seed", "seed"],
  ["presence_penalty", "presencePenalty"],
  ["frequency_penalty", "frequencyPenalty"],
]);

function configOf(prompt: Prompt, model: string): object {
  const { maxTokens, temperature, topP, stop, stopAt, output } = prompt;
  if (stop.length > STOPS_MAX && stopAt) lose(stopAt, `${STOPS_MAX} stop sequences at most`);
  const thinking = thinkingConfig(prompt, model);
  return {
    ...(maxTokens ? { maxOutputTokens: maxTokens.value } : {}),
    ...(temperature ? { temperature: temperature.value } : {}),
    ...(topP ? { topP: topP.value } : {}),
    ...extrasAs(prompt.extras, (name) => OWN_NAMES.get(name)),
    ...(stop.length > 0 ? { stopSequences: stop.slice(0, STOPS_MAX) } : {}),
    ...(output ? { responseMimeType: "application/json" } : {}),
    ...(output?.kind === "schema" ? { responseJsonSchema: output.schema } : {}),
    ...(thinking ? { thinkingConfig: thinking } : {}),
  };
}

function toolMembers({ tools, search, toolChoice, parallelTools }: Prompt): object {
  // Models choose themselves whether they call several at once.
  if (tools.length === 0 || parallelTools?.value === false) parallelTools?.at.drop();
  const isOff = toolChoice?.value.kind === "none";
  if (tools.length === 0) return search && !isOff ? { tools: [geminiSearch(search, toolChoice)] } : {};
  const mode = { auto: null, none: "NONE", any: "ANY", tool: "ANY" }[toolChoice?.value.kind ?? "auto"];
  const choice = toolChoice?.value;
  const allowed = choice?.kind === "tool" ? { allowedFunctionNames: [choice.name] } : {};
  return {
    tools: [{ functionDeclarations: tools.map(declarationOf) }],
    ...(mode ? { toolConfig: { functionCallingConfig: { mode, ...allowed } } } : {}),
  };
}

function declarationOf({ name, description, schema, strict }: Tool): object {
  if (strict?.value === true) strict.at.drop();
  return {
    name,
    ...(description === null ? {} : { description }),
    ...(schema === null ? {} : { parametersJsonSchema: withItemSchemas(schema) }),
  };
}

const systemParts = ({ parts }: PromptTurn): object[] =>
  parts.flatMap((part) => {
    if (part.kind !== "text") throw inexpressible(part.at);
    return part.text === "" ? [] : [{ text: part.text }];
  });

type Content = { role: "user" | "model"; parts: object[] };

/** The turns, those of one side joined: responses to several calls must come in one content, right after the calls. */
function contentsOf(turns: readonly PromptTurn[], model: string): Content[] {
  const names = new Map<string, string>();
  const contents: Content[] = [];
  for (const { role: said, parts } of turns) {
    const role = said === "assistant" ? "model" : "user";
    const written = role === "model" ? modelParts(parts, names) : userParts(parts, names);
    const before = contents.at(-1);
    if (before?.role === role) before.parts.push(...written);
    else if (written.length > 0) contents.push({ role, parts: written });
  }
  const last = turns.at(-1);
  if (last?.role === "assistant") throw inexpressible(last.at, "the last message must be the user's");
  return GEMINI_3.test(model) ? contents.map(withSignature) : contents;
}

/** Newer models refuse a turn whose first call has no thought signature. */
function withSignature(content: Content): Content {
  const first = content.parts.findIndex((part) => "functionCall" in part);
  const parts = content.parts.map((part, index) =>
    index === first ? { thoughtSignature: UNKNOWN_SIGNATURE, ...part } : part,
  );
  return { ...content, parts };
}

/** A signature belongs to the part after it; one at the end came in a part of its own. */
function modelParts(parts: readonly Part[], names: Map<string, string>): object[] {
  const written: object[] = [];
  let signature = {};
  const put = (part: object) => {
    written.push({ ...part, ...signature });
    signature = {};
  };
  for (const part of parts) {
    if (part.kind === "extra") signature = signatureIn(part.data);
    else if (part.kind === "text" && part.text !== "") put({ text: part.text });
    else if (part.kind === "call") {
      names.set(part.id, part.name);
      put({ functionCall: { id: part.id, name: part.name, args: argumentsObject(part.input) } });
    } else if (part.kind === "image" || part.kind === "document" || part.kind === "result") {
      throw inexpressible(part.at);
    }
  }
  if ("thoughtSignature" in signature) put({ text: "" });
  return written;
}

/** What the vendor put beside its part; a client may have sent anything in its place. */
function signatureIn(data: string): { thoughtSignature?: string } {
  const google = objectIn(data)?.["google"] as Json | undefined;
  const signature = google?.["thought_signature"];
  return typeof signature === "string" ? { thoughtSignature: signature } : {};
}

function userParts(parts: readonly Part[], names: ReadonlyMap<string, string>): object[] {
  const results = parts.filter((part): part is PartOf<"result"> => part.kind === "result");
  const media = results.flatMap(({ parts: inner }) => inner.filter(({ kind }) => kind !== "text"));
  const rest = parts.filter(({ kind }) => kind !== "result");
  return [...results.map((result) => responsePart(result, names)), ...[...media, ...rest].flatMap(userPart)];
}

/** By Google's convention `output` is the result and `error` a failure. */
function responsePart({ callId, parts, failed, at }: PartOf<"result">, names: ReadonlyMap<string, string>) {
  const name = names.get(callId);
  if (name === undefined) throw inexpressible(at, "no call before it has its id");
  const text = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
  const said =
    text === "" && parts.some(({ kind }) => kind !== "text") ? "The result is in the next part." : text;
  return { functionResponse: { id: callId, name, response: { [failed ? "error" : "output"]: said } } };
}

function userPart(part: Part): object[] {
  if (part.kind === "text") return part.text === "" ? [] : [{ text: part.text }];
  if (part.kind !== "image" && part.kind !== "document") throw inexpressible(part.at);
  const { source } = part;
  // The format has names of files on Vertex only.
  const named = part.kind === "document" ? part.title : null;
  const title = named ? [{ text: named }] : [];
  switch (source.kind) {
    case "text":
      return [{ text: titledText(named, source.text) }];
    case "data":
      return [...title, { inlineData: { mimeType: source.mediaType, data: source.data } }];
    case "url":
      return [...title, { fileData: { mimeType: typeOfUrl(source.url, part.kind), fileUri: source.url } }];
  }
}

/** By the ending of the address, because the format wants a type and others have none. */
function typeOfUrl(url: string, kind: "image" | "document"): string {
  if (kind === "document") return "application/pdf";
  const ending = /\.(png|gif|webp)(?:[?#]|$)/i.exec(url)?.[1];
  return `image/${ending?.toLowerCase() ?? "jpeg"}`;
}
