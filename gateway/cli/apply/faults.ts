/** One thing that is wrong with a file: where, and why. */
export type FileFault = { line: number | null; where: string; why: string };

/** A file cannot be applied; `faults` names everything that is wrong with it, in the order of its lines. */
export class DeclarationFault extends Error {
  override readonly name = "DeclarationFault";

  constructor(file: string, faults: readonly FileFault[]) {
    const lines = [...faults].sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
    super(lines.map((it) => faultLine(file, it)).join("\n"));
  }
}

const faultLine = (file: string, { line, where, why }: FileFault): string =>
  `${file}${line === null ? "" : `:${line}`}${where === "" ? "" : ` ${where}`}: ${why}`;
