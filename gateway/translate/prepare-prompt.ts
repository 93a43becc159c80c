import { type Prompt, type PromptTurn, plainText, unnamedTool } from "./prompt.ts";
import { keepOwnThoughts, type ThoughtsFacts } from "./thoughts.ts";
import { calledNames } from "./tool-table.ts";

/** The formats whose vendors want a question besides the instructions. */
const WANTS_QUESTION: readonly string[] = ["messages", "gemini"];
/** Anthropic's bound of cache marks. */
const MARKS_MAX = 4;

/** Brings a prompt into the form that its vendor demands, where that takes nothing from it. */
export function preparePrompt(prompt: Prompt, to: string, thoughts: ThoughtsFacts): void {
  keepOwnThoughts(prompt, thoughts);
  prompt.turns = prompt.turns.filter((turn) => turn.role !== "assistant" || !isBlank(turn) || turn.at.drop());
  if (WANTS_QUESTION.includes(to)) askSomething(prompt);
  if (to === "messages") nameCalledTools(prompt);
  keepLastMarks(prompt);
  tellCallsApart(prompt);
}

/** Anthropic refuses calls in the history of a request that offers no tool, such as one for a summary. */
function nameCalledTools(prompt: Prompt): void {
  const [at] = prompt.turns.filter(({ parts }) => parts.some(({ kind }) => kind === "call"));
  if (!at || prompt.tools.length > 0 || prompt.search) return;
  prompt.tools = [...new Set(calledNames(prompt))].map((name) => ({ ...unnamedTool(), name }));
  prompt.toolChoice = { value: { kind: "none" }, at: at.at };
}

/** Some servers repeat ids of calls, which Anthropic refuses. A result is of the first call that has none yet. */
function tellCallsApart({ turns }: Prompt): void {
  const ids = ownIds();
  let step = 0;
  for (const { role, parts } of turns) {
    if (role !== "assistant") step += 1;
    for (const part of parts) {
      if (part.kind === "call") part.id = ids.ofCall(part.id, step);
      else if (part.kind === "result") part.callId = ids.ofResult(part.callId);
    }
  }
}

function ownIds() {
  const known = new Map<string, { count: number; step: number; open: string[]; id: string }>();
  return {
    ofCall(given: string, step: number): string {
      const before = known.get(given);
      const count = (before?.count ?? 0) + 1;
      const id = (given || "call") + (count === 1 ? "" : `_${count}`);
      const open = before?.step === step ? before.open : [];
      known.set(given, { count, step, open: [...open, id], id });
      return id;
    },
    ofResult(given: string): string {
      const call = known.get(given);
      return call?.open.shift() ?? call?.id ?? given;
    },
  };
}

/** An answer without content, which says nothing, and which several vendors refuse. */
const isBlank = ({ parts }: PromptTurn): boolean =>
  parts.every((part) => part.kind === "text" && part.text.trim() === "");

/** Instructions alone are the question, and the user speaks first. */
function askSomething({ turns }: Prompt): void {
  const first = turns.find((turn) => turn.role !== "system" && !isBlank(turn));
  const last = turns.at(-1);
  if (!first && last) turns[turns.length - 1] = { ...last, role: "user" };
  if (first?.role === "assistant") {
    turns.unshift({ role: "user", parts: [plainText(".", first.at)], at: first.at });
  }
}

/** OpenAI's bound of cache marks is higher. The last ones cover the most. */
function keepLastMarks({ tools, turns }: Prompt): void {
  const ordered = [
    ...turns.filter(({ role }) => role === "system"),
    ...turns.filter(({ role }) => role !== "system"),
  ];
  const parts = ordered.flatMap((turn) =>
    turn.parts.flatMap((part) => (part.kind === "result" ? [...part.parts, part] : [part])),
  );
  const marked = [...tools, ...parts].filter(
    (it): it is Extract<typeof it, { cache: unknown }> => "cache" in it && it.cache !== null,
  );
  for (const it of marked.slice(0, -MARKS_MAX)) it.cache = null;
}
