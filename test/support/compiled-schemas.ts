import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { ValidateFunction } from "ajv/dist/2020.js";

const CACHE = join(import.meta.dir, "../../node_modules/.cache/compiled-schemas");
const require = createRequire(import.meta.url);

/**
 * The schemas of one document: JSON whose members refer to each other by `ID#/…`. Compiling one takes up to 2 s of
 * processor time, so the code is kept in a file; whoever needs the same schema of the same text later loads it in milliseconds.
 */
export function compiledSchemas(id: string, text: string): (schema: object) => ValidateFunction {
  const key = Bun.hash(text);
  let compile: ((schema: object) => string) | null = null;
  return (schema) => {
    const file = join(CACHE, `${Bun.hash(JSON.stringify(schema), key).toString(36)}.cjs`);
    if (!existsSync(file)) {
      compile ??= compilerOf(id, text);
      write(file, compile(schema));
    }
    return require(file);
  };
}

/** Writes the code of a schema's check. The compiler itself is loaded here, because most runs do not need it. */
function compilerOf(id: string, text: string): (schema: object) => string {
  const { default: Ajv } = require("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
  const { default: codeOf } = require("ajv/dist/standalone") as typeof import("ajv/dist/standalone/index.js");
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true, code: { source: true } });
  ajv.addSchema({ ...JSON.parse(text), $id: id }, id);
  return (schema) => codeOf(ajv, ajv.compile(schema));
}

/** Whole or not at all: several processes may write the same file. */
function write(file: string, code: string): void {
  mkdirSync(CACHE, { recursive: true });
  const unfinished = `${file}.${crypto.randomUUID()}`;
  writeFileSync(unfinished, code);
  renameSync(unfinished, file);
}
