/** Words and runs that guessers try first; they add nothing to a secret's strength. */
const TRIED_FIRST =
  /pass(word|wort)|change-?me|secret|letmein|qwert[yz]|welcome|development|(?<!\d)1234(5(6(7(8(90?)?)?)?)?)?(?!\d)/gi;

/** Minimum strength of a chosen secret: 2^40 guesses. */
const BITS_MIN = 40;

/** Whether a chosen secret is guessable: few characters, repetition, common words. From 16, random texts pass. */
export function isWeakSecret(secret: string): boolean {
  const text = secret.replaceAll(TRIED_FIRST, "");
  return newParts(text) * bitsPerCharacter(text) < BITS_MIN;
}

/** Characters that do not end a run of three that occurred before. */
function newParts(text: string): number {
  const runs = Array.from(text, (_, index) => text.slice(Math.max(0, index - 2), index + 1));
  return new Set(runs).size;
}

/** Shannon's entropy of the text's own distribution of characters. */
function bitsPerCharacter(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
