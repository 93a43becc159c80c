import { Type } from "@sinclair/typebox";
import { ValuePointer } from "@sinclair/typebox/value";
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from "yaml";
import { isRecord } from "#shared/json.ts";
import { faultsOf } from "#shared/schema.ts";
import {
  type Members,
  RESOURCE_KIND_NAMES,
  RESOURCE_KINDS,
  type ResourceKind,
  type ResourceKindName,
} from "./kinds.ts";

export type FileFault = { line: number | null; where: string; why: string };

/** The file cannot be applied; the message lists every fault, one per line, in file order. */
export class DeclarationFault extends Error {
  override readonly name = "DeclarationFault";

  constructor(file: string, faults: readonly FileFault[]) {
    const sorted = faults.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
    const lines = sorted.map(({ line, where, why }) => {
      const place = `${file}${line === null ? "" : `:${line}`}${where === "" ? "" : ` ${where}`}`;
      return `${place}: ${why}`;
    });
    super(lines.join("\n"));
  }
}

export type Declared = {
  kind: ResourceKindName;
  /** Empty for a kind of which there is only one. */
  name: string;
  /** With environment references resolved. */
  body: Members;
  /** Members read from the environment, with the variable names; their values are never shown. */
  fromEnv: ReadonlyMap<string, string>;
  /** The line of a member, by its JSON pointer; for a missing member, the line of its parent. */
  placeOf(pointer: string): { line: number | null; where: string };
};

/** Looks up a variable; undefined if not set. */
export type Lookup = (name: string) => string | undefined;

const REFERENCE = /\$(\$\{|\{([A-Za-z_][A-Za-z0-9_]*)\})/g;
const WHOLE_REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/**
 * Parses a YAML file into its resources in the order in which they are applied, each validated as by the admin API's
 * `PATCH`: only a new one needs the required members.
 * `${NAME}` in a text is replaced by that variable, and `$${` is a literal `${`; a secret must consist of one such
 * reference.
 * @throws DeclarationFault listing every fault with its line.
 */
export function readDeclaration(text: string, file: string, lookup: Lookup): Declared[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const faults: FileFault[] = [...document.errors, ...document.warnings].map((it) => ({
    line: lines.linePos(it.pos[0]).line,
    where: "",
    why: it.message,
  }));
  if (faults.length > 0) throw new DeclarationFault(file, faults);
  const reading: Reading = { document, lines, lookup, faults };
  const declared = RESOURCE_KIND_NAMES.flatMap((kind) => readKind(reading, kind));
  refuseUnknownKinds(reading);
  if (faults.length > 0) throw new DeclarationFault(file, faults);
  return declared;
}

type Reading = { document: Document; lines: LineCounter; lookup: Lookup; faults: FileFault[] };
type Path = readonly (string | number)[];

function readKind(reading: Reading, kind: ResourceKindName): Declared[] {
  const { shape }: ResourceKind = RESOURCE_KINDS[kind];
  const node = nodeAt(reading, [kind]);
  if (node === null || (isScalar(node) && node.value === null)) return [];
  const fits = shape === "listed" ? isSeq(node) : isMap(node);
  if (!fits) {
    fault(reading, [kind], `Expected ${shape === "listed" ? "a list" : "names with their values"}.`);
    return [];
  }
  if (shape === "single") return readOne(reading, kind, [kind]);
  const parts = isMap(node)
    ? node.items.map((pair) => keyText(pair.key))
    : [...(isSeq(node) ? node.items.keys() : [])];
  const all = parts.flatMap((part) => readOne(reading, kind, [kind, part]));
  for (const [at, one] of all.entries()) {
    if (all.findIndex(({ name }) => name === one.name) < at) {
      reading.faults.push({ ...one.placeOf(""), why: "It is declared twice." });
    }
  }
  return inOrder(RESOURCE_KINDS[kind], all);
}

/** Each after the one that it refers to; those that refer to each other in a circle stay as they are. */
function inOrder({ refersTo }: ResourceKind, all: Declared[]): Declared[] {
  if (!refersTo) return all;
  const byName = new Map(all.map((one) => [one.name, one]));
  const ordered = new Set<Declared>();
  for (const one of all) {
    const before: Declared[] = [];
    for (let it: Declared | undefined = one; it && !ordered.has(it) && !before.includes(it); ) {
      before.unshift(it);
      it = byName.get(String(refersTo(it.body)));
    }
    for (const it of before) ordered.add(it);
  }
  return [...ordered];
}

function readOne(reading: Reading, name: ResourceKindName, path: Path): Declared[] {
  const kind: ResourceKind = RESOURCE_KINDS[name];
  const fromEnv = new Map<string, string>();
  const value = readValue({ reading, kind, fromEnv, root: path.length }, path);
  if (!isRecord(value)) {
    fault(reading, path, "Expected members and their values.");
    return [];
  }
  const before = reading.faults.length;
  for (const { path: pointer, message } of faultsOf(Type.Partial(kind.form), value)) {
    const place = placeOf(reading, path, pointer);
    // An unresolved reference makes the value invalid, too.
    if (!reading.faults.some(({ where }) => where === place.where))
      reading.faults.push({ ...place, why: `${message}.` });
  }
  if (reading.faults.length > before) return [];
  return [
    {
      kind: name,
      name: kind.shape === "listed" ? kind.nameOf(value) : nameIn(kind, path),
      body: kind.filled?.(value) ?? value,
      fromEnv,
      placeOf: (pointer) => placeOf(reading, path, pointer),
    },
  ];
}

function nameIn({ spelled }: ResourceKind, path: Path): string {
  const name = String(path[1] ?? "");
  return spelled ? spelled(name) : name;
}

type Filling = { reading: Reading; kind: ResourceKind; fromEnv: Map<string, string>; root: number };

/** A node's value with references replaced; aliases are followed, bounded by the parser. */
function readValue(filling: Filling, path: Path): unknown {
  const node = nodeAt(filling.reading, path);
  if (isMap(node)) {
    return Object.fromEntries(
      node.items.map(({ key }) => [keyText(key), readValue(filling, [...path, keyText(key)])]),
    );
  }
  if (isSeq(node)) return node.items.map((_, at) => readValue(filling, [...path, at]));
  if (!isScalar(node)) return null;
  return typeof node.value === "string" ? replaceReferences(filling, path, node.value) : node.value;
}

function replaceReferences({ reading, kind, fromEnv, root }: Filling, path: Path, text: string): string {
  const member = path.slice(root).join("/");
  if (kind.secrets.includes(member) && !WHOLE_REFERENCE.test(text)) {
    fault(
      reading,
      path,
      "A secret does not belong in a file. Refer to an environment variable instead, and write nothing else.",
    );
    return "";
  }
  return text.replace(REFERENCE, (_, plain: string, name: string | undefined) => {
    if (name === undefined) return plain;
    const value = reading.lookup(name);
    if (value === undefined) fault(reading, path, `The variable ${name} is not set.`);
    fromEnv.set(member, name);
    return value ?? "";
  });
}

function nodeAt({ document }: Reading, path: Path): Node | null {
  let node: unknown = document.contents;
  for (const part of path) {
    const whole = isAlias(node) ? node.resolve(document) : node;
    node = isMap(whole)
      ? whole.items.find(({ key }) => keyText(key) === part)?.value
      : isSeq(whole)
        ? whole.items[Number(part)]
        : null;
  }
  const found = isAlias(node) ? node.resolve(document) : node;
  return isNode(found) ? found : null;
}

const keyText = (key: unknown): string => String(isScalar(key) ? key.value : key);

function placeOf(reading: Reading, path: Path, pointer: string): { line: number | null; where: string } {
  const parts = [...ValuePointer.Format(pointer)];
  const where = [...path, ...parts].join(".");
  for (let length = parts.length; length >= 0; length--) {
    const line = lineOf(reading, [...path, ...parts.slice(0, length)]);
    if (line !== null) return { line, where };
  }
  return { line: null, where };
}

/** The line of a member's name, or of an item's start. */
function lineOf(reading: Reading, path: Path): number | null {
  const parent = nodeAt(reading, path.slice(0, -1));
  const key = isMap(parent) ? parent.items.find((pair) => keyText(pair.key) === path.at(-1))?.key : null;
  const node = isNode(key) ? key : nodeAt(reading, path);
  const at = node?.range?.[0];
  return at === undefined ? null : reading.lines.linePos(at).line;
}

function fault(reading: Reading, path: Path, why: string): void {
  reading.faults.push({ ...placeOf(reading, path, ""), why });
}

function refuseUnknownKinds(reading: Reading): void {
  const { contents } = reading.document;
  if (contents !== null && !isMap(contents))
    fault(reading, [], `Expected ${RESOURCE_KIND_NAMES.join(", ")}.`);
  for (const { key } of isMap(contents) ? contents.items : []) {
    const name = keyText(key);
    if (!RESOURCE_KIND_NAMES.some((known) => known === name)) {
      fault(reading, [name], `Unknown kind. Known kinds are ${RESOURCE_KIND_NAMES.join(", ")}.`);
    }
  }
}
