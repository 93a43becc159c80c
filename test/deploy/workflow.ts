import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Developer } from "#test/support/checkout.ts";

/** Members of an action's `action.yml`, which is ours. */
type Action = {
  inputs: Record<string, { default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { steps: { id: string; shell: string; env: Record<string, string>; run: string }[] };
};

export type StepRun = {
  code: number;
  out: string;
  error: string;
  outputs: Record<string, string>;
  summary: string;
  /** What the steps that follow get. */
  variables: Record<string, string>;
  path: string[];
};

/**
 * Executes the steps of a composite action as a runner does: expressions replaced, `bash -e -o pipefail`, and the files
 * for variables, outputs, paths and the summary. `context` has the values of expressions, such as `github.token`.
 */
export async function runAction(
  directory: string,
  on: { machine: Developer; context: Record<string, string>; env: Record<string, string> },
  inputs: Record<string, string>,
): Promise<StepRun> {
  const action = Bun.YAML.parse(await Bun.file(join(directory, "action.yml")).text()) as Action;
  const unknown = Object.keys(inputs).filter((name) => !(name in action.inputs));
  if (unknown.length > 0) throw new Error(`The action has no input ${unknown}.`);
  const values: Record<string, string> = { ...on.context };
  const filled = (text: string) =>
    text.replaceAll(/\$\{\{ (.+?) \}\}/g, (_, expression: string) => {
      const value = values[expression];
      if (value === undefined) throw new Error(`No value of ${expression}.`);
      return value;
    });
  for (const [name, input] of Object.entries(action.inputs)) {
    values[`inputs.${name}`] = inputs[name] ?? filled(input.default ?? "");
  }
  const [step, ...others] = action.runs.steps;
  if (!step || others.length > 0 || step.shell !== "bash") throw new Error("One step of bash is expected.");
  const place = mkdtempSync(join(on.machine.home, "step-"));
  const file = (name: string) => join(place, name);
  const FILES = ["GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"];
  for (const name of FILES) await Bun.write(file(name), "");
  const ran = await on.machine.run(
    ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.run],
    {
      ...on.env,
      GITHUB_ACTION_PATH: directory,
      ...Object.fromEntries(FILES.map((name) => [name, file(name)])),
      ...Object.fromEntries(Object.entries(step.env).map(([name, text]) => [name, filled(text)])),
    },
  );
  const text = (name: string) => Bun.file(file(name)).text();
  for (const [name, value] of Object.entries(fileEntries(await text("GITHUB_OUTPUT")))) {
    values[`steps.${step.id}.outputs.${name}`] = value;
  }
  const outputs = Object.entries(action.outputs).map(([name, { value }]) => {
    const [, expression = ""] = /^\$\{\{ (.+) \}\}$/.exec(value) ?? [];
    return [name, values[expression] ?? ""];
  });
  return {
    ...ran,
    outputs: Object.fromEntries(outputs),
    summary: await text("GITHUB_STEP_SUMMARY"),
    variables: fileEntries(await text("GITHUB_ENV")),
    path: (await text("GITHUB_PATH")).split("\n").filter(Boolean),
  };
}

/** `name=value`, or `name<<end`, lines of the value, `end`. */
function fileEntries(text: string): Record<string, string> {
  const entries: Record<string, string> = {};
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, name = "", kind, rest = ""] = /^([^=<]+)(=|<<)(.*)$/.exec(line) ?? [];
    if (line === "") continue;
    if (name === "") throw new Error(`Not a variable: ${line}`);
    const end = kind === "=" ? at : lines.indexOf(rest, at + 1);
    if (end === -1) throw new Error(`${name} does not end.`);
    entries[name] = kind === "=" ? rest : lines.slice(at + 1, end).join("\n");
    at = end;
  }
  return entries;
}
