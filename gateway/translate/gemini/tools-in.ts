import { camelName } from "../../google-format.ts";
import { clientsTools } from "../chat/tools-in.ts";
import { dropped, into, type LocatedBody, listAt, malformed, objectAt, oneOfAt, textAt } from "../members.ts";
import type { BodyPlace } from "../place.ts";
import type { Prompt, Tool } from "../prompt.ts";
import { listedObjects, objectReader, readProto } from "./proto.ts";
import { jsonSchemaOf } from "./schema-in.ts";

const DECLARATIONS = "functionDeclarations";

/** One tool of Google's holds all functions, and each of the others is one that Google runs. */
export function geminiTools(value: unknown, at: BodyPlace): Tool[] {
  const members = listedObjects(value, at).flatMap(({ object, at: place }): Member[] =>
    Object.entries(object).flatMap(([name, held]) =>
      held === null || held === undefined
        ? []
        : [{ name: camelName(name), value: held, object, at: place.member(camelName(name)) }],
    ),
  );
  const kept = clientsTools(members, ({ at: place }) => String(place).endsWith(`.${DECLARATIONS}`));
  return members
    .filter((member) => kept.includes(member))
    .flatMap(({ value: declarations, at: place }) =>
      listedObjects(declarations, place).map((declaration) => functionOf(declaration)),
    );
}

type Member = LocatedBody & { name: string; value: unknown };

function functionOf({ object, at }: LocatedBody): Tool {
  const tool: Tool = { name: "", description: null, schema: null, strict: null, cache: null };
  readProto(
    { object, at },
    {
      name: into(tool, "name", textAt),
      description: into(tool, "description", textAt),
      parameters: into(tool, "schema", (value, place) => jsonSchemaOf(objectAt(value, place))),
      parametersJsonSchema: into(tool, "schema", objectAt),
      // What the function returns, and whether the model waits for it: said of the client's own code.
      response: dropped,
      responseJsonSchema: dropped,
      behavior: dropped,
    },
  );
  if (tool.name === "") throw malformed(at.member("name"), "a string");
  return tool;
}

const MODES = ["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"] as const;

/** Reads `toolConfig` into a prompt whose tools are read already: a list of allowed functions removes the others. */
export function readToolConfig(value: unknown, at: BodyPlace, prompt: Prompt): void {
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
