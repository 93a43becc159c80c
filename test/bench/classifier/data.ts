import { join } from "node:path";

export type Labelled = { text: string; label: string };

/** Reads one `{"text","label"}` a line. */
export async function readLines(directory: string, name: string): Promise<Labelled[]> {
  const text = await Bun.file(join(directory, name)).text();
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Labelled);
}

/** Reads a two-column CSV (text, category) with a header; quotes are doubled inside quoted fields. */
export async function readCsv(directory: string, name: string): Promise<Labelled[]> {
  const text = await Bun.file(join(directory, name)).text();
  const rows = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*)),([^\n]*)\n/g)];
  return rows.slice(1).map(([, quoted, plain, label]) => ({
    text: (quoted?.replaceAll('""', '"') ?? plain ?? "").trim(),
    label: (label ?? "").trim(),
  }));
}

export type Clinc = Record<"train" | "val" | "test" | "oos_val" | "oos_test", Labelled[]>;

/** Reads a CLINC150 file: lists of [text, intent] by split. */
export async function readClinc(directory: string, name: string): Promise<Clinc> {
  const raw = (await Bun.file(join(directory, name)).json()) as Record<string, [string, string][]>;
  const listOf = (split: string) => (raw[split] ?? []).map(([text, label]) => ({ text, label }));
  return {
    train: listOf("train"),
    val: listOf("val"),
    test: listOf("test"),
    oos_val: listOf("oos_val"),
    oos_test: listOf("oos_test"),
  };
}

/** `count` texts of each label, drawn by a generator with a fixed seed. */
export function draw(lines: readonly Labelled[], count: number, random: () => number): Map<string, string[]> {
  const byLabel = new Map<string, string[]>();
  for (const { text, label } of lines) {
    const texts = byLabel.get(label) ?? [];
    if (!texts.includes(text)) texts.push(text);
    byLabel.set(label, texts);
  }
  for (const [label, texts] of byLabel) {
    for (let at = texts.length - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1));
      [texts[at], texts[other]] = [texts[other] ?? "", texts[at] ?? ""];
    }
    byLabel.set(label, texts.slice(0, count));
  }
  return byLabel;
}
