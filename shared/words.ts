type Split<Text extends string> = Text extends `${infer Word} ${infer Rest}`
  ? [Word, ...Split<Rest>]
  : [Text];
/** The type of a text of several lines, or of one that is not written out, has no names. */
type Names<Text extends string> = string extends Text
  ? string[]
  : Text extends `${string}\n${string}`
    ? string[]
    : Split<Text>;
type Words<Texts extends readonly string[]> = Texts extends readonly [
  infer Text extends string,
  ...infer Rest extends string[],
]
  ? [...Names<Text>, ...Words<Rest>]
  : [];

/** A list of names, written as running text; its type has each name, if one space and no line break is between them. */
export const words = <const Texts extends readonly string[]>(...texts: Texts): Words<Texts> =>
  // Split at the same spaces as the type.
  texts.flatMap((text) => text.match(/\S+/g) ?? []) as Words<Texts>;
