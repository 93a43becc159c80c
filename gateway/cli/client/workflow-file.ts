import { appendFile } from "node:fs/promises";

/**
 * Appends variables to a file of a workflow's step, `GITHUB_ENV` or `GITHUB_OUTPUT`. Each value ends at a line that nobody
 * can guess, so no value can set another variable.
 * Source: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands#multiline-strings
 */
export async function exportVariables(
  file: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const end = `tallygate_${crypto.randomUUID()}`;
  const lines = Object.entries(variables).map(([name, value]) => `${name}<<${end}\n${value}\n${end}\n`);
  await appendFile(file, lines.join(""));
}
