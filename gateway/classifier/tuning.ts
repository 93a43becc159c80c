/** The weight of each block of features: zone, full text, marks, cues, kinds of task, meaning. */
export type BlockWeights = readonly [number, number, number, number, number, number];

type Tuning = {
  /** Blocks of the starter; of routes that are kinds of task; of close topics within one kind, which only words distinguish. */
  starterBlocks: BlockWeights;
  taskBlocks: BlockWeights;
  topicBlocks: BlockWeights;
  /** Features that training never saw lengthen a text's norm by this share. With 0, the few known ones of a foreign text would count too much. */
  unseenShare: number;
  /** The instruction zone: characters of a text's beginning and end. */
  zoneHead: number;
  zoneTail: number;
  /** A cue that begins before this character is early. A character of an unspaced script says as much as a short word. */
  earlyCharacters: number;
  earlyUnspaced: number;
  /** What an error on a built-in example costs, and how much more one on a small class does (0: the same, 1: in proportion). */
  svmCost: number;
  svmBalance: number;
  /** The same for close topics. */
  topicCost: number;
  topicBalance: number;
  /** How much the strongest hidden class counts against the best route. */
  hiddenShare: number;
  /** How much it counts that a text is of a kind that routes take rather than of one that no route takes. */
  takenShare: number;
  partWeight: number;
  /** Weight of a built-in example beside an administrator's own, however many there are of those. */
  besideOwn: number;
  /** Weight of the examples of a kind that no route takes, and how many there are at most. */
  hiddenWeight: number;
  hiddenMax: number;
  /** A route covers a kind if this share of its texts looks like it, and takes its built-in examples from these shares. */
  coveredShare: number;
  adoptShare: number;
  /** The same if no other kind is more frequent in that route. */
  adoptShareTop: number;
  /** If a smaller share of a template's own examples looks like its kind, the name is a coincidence. */
  namesakeShare: number;
};

/** Every number chosen by measuring. Only `test/bench/classifier/select.ts` assigns others, by cross-validation. */
export const TUNING: Tuning = {
  starterBlocks: [1, 0.8, 0.3, 0.5, 0, 0.4],
  taskBlocks: [1, 0.8, 0.4, 0.7, 0.8, 0.5],
  topicBlocks: [1, 0.5, 0.1, 0.1, 0.1, 1.1],
  unseenShare: 0.5,
  zoneHead: 160,
  zoneTail: 100,
  earlyCharacters: 50,
  earlyUnspaced: 20,
  svmCost: 1,
  svmBalance: 0.5,
  topicCost: 16,
  topicBalance: 0.3,
  hiddenShare: 0.5,
  takenShare: 1.5,
  partWeight: 0.5,
  besideOwn: 0.5,
  hiddenWeight: 1,
  hiddenMax: 80,
  coveredShare: 0.35,
  adoptShare: 0.5,
  adoptShareTop: 0.3,
  namesakeShare: 0.2,
};
