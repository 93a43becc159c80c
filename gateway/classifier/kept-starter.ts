import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Starter, type StarterNumbers, starterWith, trainStarter } from "./starter.ts";

/** Beside the packages: a checkout has one, whichever data directory a gateway of it uses. */
const DIRECTORY = join(import.meta.dir, "../../node_modules/.cache/tallygate-starter");
const HALF_BYTES = 2;

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
    return starterWith(unpack(readFileSync(file)));
  } catch {
    return null;
  }
}

function trainAndKeep(directory: string, file: string): Starter {
  const starter = trainStarter();
  try {
    mkdirSync(directory, { recursive: true });
    const temporary = `${file}.${process.pid}-${crypto.randomUUID()}`;
    writeFileSync(temporary, pack(starter));
    renameSync(temporary, file);
  } catch {
    // A checkout of another user, or a full disk: the next start trains again.
  }
  return starter;
}

/** The number of weights, the weights as 16-bit floats, to which training rounds them, and the held-out scores. */
function pack({ weights, held }: StarterNumbers): Uint8Array {
  const halves = Float16Array.from(weights);
  const bytes = new Uint8Array(4 + halves.byteLength + held.byteLength);
  new DataView(bytes.buffer).setUint32(0, weights.length, true);
  bytes.set(new Uint8Array(halves.buffer), 4);
  bytes.set(new Uint8Array(held.buffer, held.byteOffset, held.byteLength), 4 + halves.byteLength);
  return bytes;
}

function unpack(file: Buffer): StarterNumbers {
  const bytes = new Uint8Array(file).buffer;
  const count = new DataView(bytes).getUint32(0, true);
  const weights = Float32Array.from(new Float16Array(bytes, 4, count));
  return { weights, held: new Float32Array(bytes.slice(4 + count * HALF_BYTES)) };
}
