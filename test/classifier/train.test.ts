import { describe, expect, test } from "bun:test";
import { classify } from "#gateway/classifier/classify.ts";
import { foldsOf } from "#gateway/classifier/cross-validation.ts";
import type { Model } from "#gateway/classifier/model.ts";
import { deserialiseModel, packed } from "#gateway/classifier/model-file.ts";
import { trainModel } from "#gateway/classifier/train.ts";
import { trainingSetOf } from "#gateway/classifier/training-set.ts";
import { trainInWorker } from "#test/classifier/train-in-worker.ts";
import { cpuMs } from "#test/support/cpu-time.ts";
import { isFaultRun, longTest } from "#test/support/fault-run.ts";
import { HOTEL, hotel, route, sharedStarter, train } from "./models.ts";

describe("training", () => {
  test("the same routes give a byte-identical model, here and in a worker, which does not hold this thread up", async () => {
    const input = { routes: [...HOTEL, route("coding")], strictness: 0.05 } as const;
    const here = packed(trainModel(input, sharedStarter()));
    // A starter is handed over, or made there, which takes a second.
    if (isFaultRun) expect(packed(await trainInWorker(input))).toEqual(here);
    const handedOver: Model[] = [];
    const work = async () => handedOver.push(await trainInWorker(input, sharedStarter()));
    // Far above the few milliseconds of processor time that handing over takes.
    expect(await cpuMs(work, 1)).toBeLessThan(250);
    expect(handedOver.map(packed)).toEqual([here]);
  });

  test("no route at all trains to a model that chooses none", () => {
    expect(classify(train(), "hello", null)).toMatchObject({ route: null, candidates: [] });
  });

  test("a route that says nothing of itself and bears no template's name is never chosen", () => {
    const model = train(route("mystery"), route("coding"));
    expect(classify(model, "write a bash script", null).candidates.map(({ route: name }) => name)).toEqual([
      "coding",
    ]);
  });

  test("a template's name over examples of something else is a coincidence: its built-in examples stay away", () => {
    const wards = [
      "Fracture of the wrist, outpatient",
      "Fit the billing group to appendicitis",
      "Patient 4, pneumonia, 3 days",
    ];
    const examples = [
      ...wards,
      "Hip replacement, inpatient, no complications",
      "Migraine, emergency, discharged",
      "Asthma attack, ward B",
    ];
    const model = train(route("coding", { examples }), route("translation"));
    expect(classify(model, "Broken ankle, outpatient, plaster", null).candidates[0]?.route).toBe("coding");
    expect(classify(model, "Implement quicksort in Java", null).why.hidden).toBe("coding");
  });
});

describe("the report to the administrator", () => {
  test("accuracy is unknown, not 0, where a route has under 8 examples", () => {
    const few = HOTEL.map((one) => ({ ...one, examples: one.examples.slice(0, 7) }));
    expect(train(...few).report.accuracy).toBeNull();
    expect(hotel().report.accuracy).not.toBeNull();
  });

  test("an example in the wrong route is pointed out by its place", () => {
    const [booking, kitchen] = HOTEL;
    if (!booking || !kitchen) throw new Error("two routes are needed");
    const mixed = {
      ...kitchen,
      examples: [...kitchen.examples, "Book a double room with breakfast for two nights"],
    };
    const { misfits } = train(booking, mixed).report;
    expect(misfits).toContainEqual({ route: "kitchen", exampleId: "examples/8", looksLike: "booking" });
  });

  longTest("classifier/classify, classifier/decisions, classifier/evaluate")(
    "a stricter setting sends more to the default route",
    () => {
      const at = (strictness: 0.02 | 0.05 | 0.1) =>
        trainModel({ routes: HOTEL, strictness }, sharedStarter()).threshold;
      expect(at(0.1)).toBeGreaterThanOrEqual(at(0.02));
    },
  );
});

describe("a stored model", () => {
  const model = train(...HOTEL, route("coding"));
  const bytes = packed(model);

  test("answers exactly as the one that was stored", () => {
    const read = deserialiseModel(bytes);
    if (!read) throw new Error("the model could not be read");
    for (const text of ["a room please", "def f(): pass", "Translate: hello", "今天吃什么"]) {
      expect(classify(read, text, null)).toEqual(classify(model, text, null));
    }
    expect(packed(read)).toEqual(bytes);
  });

  test("is read alike from a Buffer that is part of a larger one", () => {
    const holder = Buffer.concat([Buffer.from("before"), bytes]);
    const read = deserialiseModel(holder.subarray(6));
    expect(read && packed(read)).toEqual(bytes);
  });

  test("is refused, never misread, when cut short, of another format or no model at all", () => {
    expect(deserialiseModel(bytes.subarray(0, bytes.length / 2))).toBeNull();
    expect(deserialiseModel(new Uint8Array())).toBeNull();
    expect(deserialiseModel(new TextEncoder().encode("not a model, but long enough"))).toBeNull();
    const foreign = packed({ ...model, format: 0 });
    expect(deserialiseModel(foreign)).toBeNull();
  });
});

const setOf = (...routes: Parameters<typeof route>[]) =>
  trainingSetOf(sharedStarter(), { routes: routes.map((each) => route(...each)), strictness: 0.05 });

describe("texts that are held out to measure on", () => {
  test("are every example, in turn, and no text that only describes a route", () => {
    const material = trainingSetOf(sharedStarter(), { routes: HOTEL, strictness: 0.05 });
    const folds = foldsOf(material, 5);
    const foldsFrom = (source: string) =>
      material.samples.flatMap((sample, row) => (sample.source === source ? [folds[row] ?? -1] : []));
    expect(foldsFrom("example").filter((fold) => fold < 0)).toEqual([]);
    expect(new Set(foldsFrom("example")).size).toBe(5);
    expect(new Set(foldsFrom("hint"))).toEqual(new Set([-1]));
  });

  test("are built-in ones of the routes where there are no examples", () => {
    const { classes, samples } = setOf(["coding"], ["translation"]);
    const folds = foldsOf({ classes, samples, oneKind: false, takers: [] }, 5);
    expect(folds.every((fold) => fold >= 0)).toBe(true);
  });
});

describe("the kinds that routes take", () => {
  const takersOf = (...routes: Parameters<typeof route>[]) => setOf(...routes).takers;

  test("are known of templates by their names", () => {
    const takers = takersOf(["coding"], ["translation"]);
    expect(takers[0]).toEqual(["coding"]);
    expect(takers.flat().toSorted()).toEqual(["coding", "translation"]);
  });

  test("are not known as soon as one other route has a few examples only", () => {
    expect(takersOf(["coding"], ["booking", { examples: ["Cancel my room for tonight"] }])).toEqual([]);
    expect(takersOf(["coding"], ["booking", { description: "Rooms of a hotel" }])).toEqual([]);
  });
});
