import {
  FOLDS,
  featuresOfAll,
  judgedTexts,
  marginOf,
  reportChoice,
  seedsOutside,
  trainKinds,
} from "./judge.ts";

/** Examples whose right kind is this far behind when they are held out may be mislabelled. */
const BEHIND = [2, 1.5, 1, 0.5];

/** What deleting built-in examples that other folds contradict is worth. */
export async function selectSeeds(directory: string): Promise<void> {
  const texts = await judgedTexts(directory);
  const features = featuresOfAll(texts);
  const every = Array.from({ length: FOLDS }, (_, fold) => fold);
  /** Margins of the built-in examples outside one fold, by models that saw neither them nor that fold. */
  const marginsWithout = (held: number) => {
    const margins = new Map<number, number>();
    for (const fold of every.filter((one) => one !== held)) {
      const score = trainKinds(seedsOutside(texts, [fold, held]), features);
      for (const [at, text] of texts.entries()) {
        const one = features[at];
        if (one && text.seed >= 0 && text.fold === fold)
          margins.set(text.seed, marginOf(score(one), text.template));
      }
    }
    return margins;
  };
  const margins = every.map(marginsWithout);
  console.log("built-in examples");
  for (const behind of [Number.POSITIVE_INFINITY, ...BEHIND]) {
    const what = Number.isFinite(behind) ? `without those behind by ${behind}` : "all kept";
    reportChoice(what, texts, (fold) => ({
      features,
      places: seedsOutside(texts, [fold]).filter((seed) => (margins[fold]?.get(seed) ?? 0) >= -behind),
    }));
  }
}
