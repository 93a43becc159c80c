import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packed, unpackedModel } from "./model-file.ts";
import { type Starter, type StarterNumbers, starterWith, trainStarter } from "./starter.ts";

/** Beside the packages: a checkout has one, whichever data directory a gateway of it uses. */
const DIRECTORY = join(import.meta.dir, "../../node_modules/.cache/tallygate-starter");

/** This build's starter: read from `directory`, or trained and kept there; where that fails, trained at each start. */
export function keptStarter(directory = DIRECTORY): Starter {
  const file = join(directory, `${hashOfSources()}.bin`);
  return read(file) ?? trainAndKeep(directory, file);
}

/** Whatever training is made of: its code, examples, cues and words. */
function hashOfSources(): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const name of readdirSync(import.meta.dir, { recursive: true, encoding: "utf8" }).sort()) {
    if (/\.(ts|json|txt)$/.test(name)) hasher.update(readFileSync(join(import.meta.dir, name)));
  }
  return hasher.digest("hex").slice(0, 16);
}

/** Null: there is no such file, or it is cut short. */
function read(file: string): Starter | null {
  try {
    // `trainAndKeep` packed it; what is cut short cannot be unpacked.
    return starterWith(unpackedModel(readFileSync(file)) as StarterNumbers);
  } catch {
    return null;
  }
}

function trainAndKeep(directory: string, file: string): Starter {
  const starter = trainStarter();
  try {
    mkdirSync(directory, { recursive: true });
    const temporary = `${file}.${process.pid}-${crypto.randomUUID()}`;
    const { weights, held } = starter;
    writeFileSync(temporary, packed({ weights, held } satisfies StarterNumbers));
    renameSync(temporary, file);
  } catch {
    // A checkout of another user, or a full disk: the next start trains again.
  }
  return starter;
}
