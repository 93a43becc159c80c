/** A command line without a flag's last value, which is `given`; words behind `--` are no flags. */
export function takeFlag(words: readonly string[], flag: string): { given: string | null; others: string[] } {
  let given: string | null = null;
  const others: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return { given, others: [...others, ...words.slice(at)] };
    if (word === flag) given = words[++at] ?? null;
    else if (word.startsWith(`${flag}=`)) given = word.slice(flag.length + 1);
    else others.push(word);
  }
  return { given, others };
}
