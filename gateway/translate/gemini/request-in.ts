import { camelName, protoMember } from "../../google-format.ts";
import { dropped, ignored, into, refused } from "../members.ts";
import { type BodyPlace, type LocatedBody, malformed } from "../place.ts";
import type { Part, Prompt, PromptRead, PromptTurn, Tool } from "../prompt.ts";
import { answerOptions, emptyPrompt, plainText, unnamedTool } from "../prompt.ts";
import { type ToolTable, toolsBy } from "../tool-table.ts";
import { listAt, objectAt, oneOfAt, textAt } from "../values.ts";
import { searchTool } from "../web-search.ts";
import { readGenerationConfig, type Wanted } from "./config-in.ts";
import { geminiTurns, systemTurn } from "./content-in.ts";
import { listedObjects, objectReader, readProtoObject } from "./proto.ts";
import { jsonSchemaOf } from "./schema-in.ts";

/** Reads a generateContent request. Whether it is streamed is not in it but in its address. */
export function readGeminiRequest({ object: body, at }: LocatedBody): PromptRead {
  const prompt = emptyPrompt();
  const wanted: Wanted = { thoughts: false };
  const system: { turns: PromptTurn[] } = { turns: [] };
  readProtoObject(body, at, {
    // Read by the gateway itself.
    model: ignored,
    route: ignored,
    contents: into(prompt, "turns", geminiTurns),
    systemInstruction: into(system, "turns", (value, place) => [systemTurn(value, place)]),
    tools: into(prompt, "tools", geminiTools),
    // Read after the tools that it names.
    toolConfig: ignored,
    generationConfig: readGenerationConfig(prompt, wanted),
    // The vendor's own filters, and labels and logs that it keeps.
    safetySettings: dropped,
    labels: dropped,
    store: dropped,
    // The vendor's own capacity: the answer is the same.
    serviceTier: dropped,
    // Part of what was said, in the vendor's store.
    cachedContent: refused,
  });
  if (prompt.turns.length === 0) throw malformed(at.member("contents"), "an array with a turn");
  const config = protoMember(body, "toolConfig");
  if (config !== undefined && config !== null) readToolConfig(config, at.member("toolConfig"), prompt);
  prompt.turns.unshift(...system.turns);
  speakOfJson(prompt);
  return { prompt, options: answerOptions(prompt, { thinking: wanted.thoughts }) };
}

/** OpenAI answers with any JSON only where the prompt has the word. */
function speakOfJson({ output, turns }: Prompt): void {
  const says = (part: Part) => part.kind === "text" && /json/i.test(part.text);
  if (output?.kind !== "json" || turns.some(({ parts }) => parts.some(says))) return;
  turns.unshift({ role: "system", parts: [plainText("Answer in JSON.", output.at)], at: output.at });
}

/** Google's tools: one holds all functions, the others Google runs, but for a computer. */
const TOOLS: ToolTable = {
  functionDeclarations: ({ object, at }) =>
    listedObjects(object["functionDeclarations"], at).map((declaration) => functionOf(declaration)),
  googleSearch: ({ object, at }) => searchTool({ object: objectAt(object["googleSearch"], at), at }),
  googleSearchRetrieval: "vendor",
  enterpriseWebSearch: "vendor",
  googleMaps: "vendor",
  codeExecution: "vendor",
  urlContext: "vendor",
  fileSearch: "vendor",
  retrieval: "vendor",
  computerUse: "unfaithful",
};

const geminiTools = (value: unknown, at: BodyPlace): Tool[] =>
  toolsBy(
    TOOLS,
    listedObjects(value, at).flatMap(({ object, at: place }) =>
      Object.entries(object).flatMap(([spelled, held]) => {
        if (held === null || held === undefined) return [];
        const type = camelName(spelled);
        return [{ object: { [type]: held }, at: place.member(type), type }];
      }),
    ),
  );

function functionOf({ object, at }: LocatedBody): Tool {
  const tool = unnamedTool();
  readProtoObject(object, at, {
    name: into(tool, "name", textAt),
    description: into(tool, "description", textAt),
    parameters: into(tool, "schema", (value, place) => jsonSchemaOf(objectAt(value, place))),
    parametersJsonSchema: into(tool, "schema", objectAt),
    // What the function returns, and whether the model waits for it: said of the client's own code.
    response: dropped,
    responseJsonSchema: dropped,
    behavior: dropped,
  });
  if (tool.name === "") throw malformed(at.member("name"), "a string");
  return tool;
}

const MODES = ["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"] as const;

/** Reads `toolConfig` into a prompt whose tools are read already: a list of allowed functions removes the others. */
function readToolConfig(value: unknown, at: BodyPlace, prompt: Prompt): void {
  const config: { mode: (typeof MODES)[number]; allowed: string[] | null } = { mode: "AUTO", allowed: null };
  objectReader({
    functionCallingConfig: objectReader({
      mode: into(config, "mode", (mode, place) => oneOfAt(mode, place, MODES)),
      allowedFunctionNames: into(config, "allowed", (names, place) =>
        listAt(names, place).map((name, index) => textAt(name, place.item(index))),
      ),
    }),
    // Where the user is, for tools that Google runs.
    retrievalConfig: dropped,
    includeServerSideToolInvocations: dropped,
  })(value, at);
  const { mode, allowed } = config;
  if (allowed && allowed.length > 0 && mode !== "NONE") {
    const names = new Set(allowed);
    prompt.tools = prompt.tools.filter(({ name }) => names.has(name));
  }
  if (mode === "NONE") prompt.toolChoice = { value: { kind: "none" }, at };
  if (mode === "ANY") {
    const [only, more] = prompt.tools;
    const one = allowed && only && !more ? ({ kind: "tool", name: only.name } as const) : null;
    prompt.toolChoice = { value: one ?? { kind: "any" }, at };
  }
}
