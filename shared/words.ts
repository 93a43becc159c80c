type Split<Text extends string> = Text extends `${infer Word} ${infer Rest}`
  ? [Word, ...Split<Rest>]
  : [Text];
type Words<Texts extends readonly string[]> = Texts extends readonly [
  infer Text extends string,
  ...infer Rest extends string[],
]
  ? [...Split<Text>, ...Words<Rest>]
  : [];

/** A list of names, written as running text with one space between them; its type has each name. */
export const words = <const Texts extends readonly string[]>(...texts: Texts): Words<Texts> =>
  // Split at the same spaces as the type.
  texts.flatMap((text) => text.split(" ")) as Words<Texts>;
