import type { AnswerRow } from "./assemble.ts";
import { SPLIT, type Tasks } from "./context.ts";

/** What `tasksQuery` answers. */
export function tasksOf(rows: readonly AnswerRow[]): Tasks {
  const of = (part: string, names: readonly string[]) =>
    rows.flatMap((row) =>
      row["part"] === part ? [Object.fromEntries(names.map((name) => [name, row[name] ?? ""]))] : [],
    );
  // Each part has its own columns, and none of them is null there.
  return {
    linked: of("linked", ["task", "session", "declarer"]) as Tasks["linked"][number][],
    uncovered: of("uncovered", ["task"]).map(({ task = "" }) => task),
    split: of("split", SPLIT) as Tasks["split"][number][],
  };
}
