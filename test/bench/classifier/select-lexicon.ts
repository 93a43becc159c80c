import {
  CUES,
  type CueTable,
  compileLexicon,
  type Lexicon,
  lexicon,
  matchCues,
} from "#gateway/classifier/cues.ts";
import type { Features } from "#gateway/classifier/features.ts";
import { featuresOf } from "#gateway/classifier/features.ts";
import { respell } from "#gateway/classifier/spelling.ts";
import { readText } from "#gateway/classifier/text.ts";
import {
  FOLDS,
  featuresOfAll,
  type Judged,
  judgedTexts,
  lossOf,
  marginOf,
  reportChoice,
  seedsOutside,
  trainKinds,
} from "./judge.ts";

/** A cue: `concept` and `stem`, as one text. */
type Entry = string;
const SEPARATOR = "\t";
const partsOf = (entry: Entry): [string, string] => {
  const [concept = "", stem = ""] = entry.split(SEPARATOR);
  return [concept, stem];
};

const ENTRIES: Entry[] = [
  ...new Set(
    CUES.flatMap((table: CueTable) =>
      Object.entries(table).flatMap(([concept, stems]) =>
        stems.map((stem) => `${concept}${SEPARATOR}${stem}`),
      ),
    ),
  ),
];
/** Finds entries instead of concepts. */
const BY_ENTRY = compileLexicon([Object.fromEntries(ENTRIES.map((entry) => [entry, [partsOf(entry)[1]]]))]);

const entriesIn = (text: string): Entry[] =>
  matchCues(BY_ENTRY, respell(readText(text).zone)).flatMap(({ concept }) =>
    // Not the pairs, nor what is early or first.
    /^(?:first|early):/.test(concept) || concept.split(SEPARATOR).length > 2 ? [] : [concept],
  );

type Material = { texts: Judged[]; features: Features[]; entries: Entry[][] };

/** Takes entries out of the lexicon while `run` runs. */
function without<T>(entries: Iterable<Entry>, run: () => T): T {
  const undo: (() => void)[] = [];
  for (const entry of entries) {
    const [concept, stem] = partsOf(entry);
    const whole = stem.endsWith("$");
    let node: Lexicon | undefined = lexicon();
    const text = (whole ? stem.slice(0, -1) : stem).normalize("NFKC").toLowerCase();
    for (let at = 0; node && at < text.length; at++) node = node.next.get(text.charCodeAt(at));
    const list = whole ? node?.whole : node?.concepts;
    const at = list?.indexOf(concept) ?? -1;
    if (!list || at < 0) continue;
    list.splice(at, 1);
    undo.push(() => list.splice(at, 0, concept));
  }
  try {
    return run();
  } finally {
    for (const one of undo.reverse()) one();
  }
}

/** Texts of a fold by the entries in them. */
function textsByEntry({ texts, entries }: Material, fold: number): Map<Entry, number[]> {
  const places = new Map<Entry, number[]>();
  for (const [at, text] of texts.entries()) {
    if (text.fold !== fold) continue;
    for (const entry of entries[at] ?? []) places.set(entry, [...(places.get(entry) ?? []), at]);
  }
  return places;
}

/** How much lower the loss is with each entry than without it, on all folds but one, by models that saw neither fold. */
function gainsWithout(material: Material, held: number): Map<Entry, number> {
  const { texts, features } = material;
  const gains = new Map<Entry, number>();
  for (let fold = 0; fold < FOLDS; fold++) {
    if (fold === held) continue;
    const score = trainKinds(seedsOutside(texts, [fold, held]), features);
    const lossAt = (at: number, one: Features) => lossOf(marginOf(score(one), texts[at]?.template ?? ""));
    for (const [entry, places] of textsByEntry(material, fold)) {
      const gain = without([entry], () =>
        places.map((at) => {
          const known = features[at];
          return known ? lossAt(at, featuresOf(texts[at]?.text ?? "")) - lossAt(at, known) : 0;
        }),
      );
      gains.set(
        entry,
        gain.reduce((sum, one) => sum + one, gains.get(entry) ?? 0),
      );
    }
  }
  return gains;
}

/** Which entries go out, by their gain on the other folds (undefined: no text has them). */
const RULES: Readonly<Record<string, (gain: number | undefined) => boolean>> = {
  "all kept": () => false,
  "without entries never seen": (gain) => gain === undefined,
  "without harmful ones": (gain) => gain !== undefined && gain < 0,
  "without very harmful ones": (gain) => gain !== undefined && gain < -2,
  "without a lexicon": () => true,
};

/** What deleting lexicon entries by their gain on other folds is worth. */
export async function selectEntries(directory: string): Promise<void> {
  const texts = await judgedTexts(directory);
  const features = featuresOfAll(texts);
  const material = { texts, features, entries: texts.map(({ text }) => entriesIn(text)) };
  const gains = Array.from({ length: FOLDS }, (_, held) => gainsWithout(material, held));
  console.log(`lexicon: ${ENTRIES.length} entries`);
  for (const [name, goesOut] of Object.entries(RULES)) {
    reportChoice(name, texts, (fold) => ({
      features: without(
        ENTRIES.filter((entry) => goesOut(gains[fold]?.get(entry))),
        () => featuresOfAll(texts),
      ),
      places: seedsOutside(texts, [fold]),
    }));
  }
}
