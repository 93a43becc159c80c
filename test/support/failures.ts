/** Of a failure's output the last lines are shown: the first may be what the test's programs printed. */
const LINES_SHOWN = 40;

/** A failed test: its name with its file, and the last lines printed before the result, which say why. */
export type Failure = { test: string; why: string };

/** The failed tests in what `bun test` prints: a file's name comes before its tests, a failure's reason before its result. */
export function failuresIn(printed: string): Failure[] {
  const failures: Failure[] = [];
  let file = "";
  let before: string[] = [];
  for (const line of printed.split("\n")) {
    // From here on it repeats them without their files.
    if (/^\d+ tests? failed:$/.test(line)) break;
    const [, head] = /^(test\/\S+\.test\.tsx?):$/.exec(line) ?? [];
    const [, failed] = /^(?:\(fail\)|#(?= Unhandled error)) (.*)$/.exec(line) ?? [];
    if (head) file = head;
    else if (failed)
      failures.push({ test: `${file}: ${failed}`, why: before.slice(-LINES_SHOWN).join("\n").trim() });
    if (head || /^\((?:pass|fail|skip|todo)\) /.test(line)) before = [];
    else before.push(line);
  }
  return failures;
}
