import { lose } from "../place.ts";
import { type OutputFormat, type Prompt, unnamedTool } from "../prompt.ts";
import type { ReplyStep, StopStep } from "../reply.ts";
import { claudeFacts } from "./claude-models.ts";
import { grammarOf } from "./grammar.ts";

/** Asks for JSON through a tool where the format cannot say it. Returns the tool's name; null: the answer is text. */
export function askByTool(prompt: Prompt, model: string): string | null {
  const { output } = prompt;
  if (!output) return null;
  const grammar = output.kind === "schema" && claudeFacts(model).schemas ? grammarOf(output.schema) : null;
  if (output.kind === "schema" && grammar) {
    prompt.output = { ...output, schema: grammar };
    return null;
  }
  prompt.output = null;
  // A call of the client's own tool is no JSON answer.
  if (prompt.toolChoice?.value.kind === "tool") return null;
  const schema = output.kind === "schema" ? output.schema : { type: "object", additionalProperties: true };
  if (schema["type"] !== "object") {
    lose(output.at, "the schema of an answer must be an object's");
    return null;
  }
  const name = unusedName(prompt);
  const mayCall = prompt.tools.length > 0 && prompt.toolChoice?.value.kind !== "none";
  prompt.tools = [
    ...prompt.tools,
    { ...unnamedTool(), name, description: descriptionOf(output, mayCall), schema },
  ];
  prompt.toolChoice = { value: mayCall ? { kind: "any" } : { kind: "tool", name }, at: output.at };
  prompt.parallelTools = mayCall ? prompt.parallelTools : { value: false, at: output.at };
  return name;
}

function descriptionOf(output: OutputFormat, mayCall: boolean): string {
  const when = mayCall ? "Gives the final answer, when no other tool is needed" : "Gives the answer";
  const what = output.kind === "schema" && output.description !== null ? `: ${output.description}` : ".";
  return `${when}, as a JSON object${what}`;
}

function unusedName({ tools }: Prompt): string {
  let name = "json_answer";
  while (tools.some((tool) => tool.name === name)) name += "_";
  return name;
}

type Seen = { block: "answer" | "call" | "other"; answered: boolean; called: boolean; text: boolean };

/** Reads the calls of that tool as the text of the answer. */
export function textOfTool(tool: string): (step: ReplyStep) => ReplyStep[] {
  const seen: Seen = { block: "other", answered: false, called: false, text: false };
  return (step) => {
    switch (step.kind) {
      case "open":
        return [opened(step, tool, seen)];
      case "more":
        seen.text ||= seen.block === "answer";
        return [step];
      case "close":
        return seen.block === "answer" && !seen.text ? [{ kind: "more", text: "{}" }, step] : [step];
      case "stop":
        return [stopped(step, seen)];
      default:
        return [step];
    }
  };
}

function opened(step: Extract<ReplyStep, { kind: "open" }>, tool: string, seen: Seen): ReplyStep {
  const { block } = step;
  if (block.kind !== "call") seen.block = "other";
  else seen.block = block.name === tool ? "answer" : "call";
  seen.called ||= seen.block === "call";
  seen.answered ||= seen.block === "answer";
  return seen.block === "answer" ? { kind: "open", block: { kind: "text" } } : step;
}

/** A call of that tool alone ends the answer. */
const stopped = (step: StopStep, { answered, called }: Seen): ReplyStep =>
  step.reason === "tool_use" && answered && !called ? { ...step, reason: "end_turn" } : step;
