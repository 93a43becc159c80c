import { randomInt } from "node:crypto";

/** Consonants: no code is a word, and none is read as another. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const HALF = 4;

/** A new code for people, as `XXXX-XXXX`: 34 random bits. */
export function newUserCode(): string {
  const half = () => Array.from({ length: HALF }, () => LETTERS[randomInt(LETTERS.length)]).join("");
  return `${half()}-${half()}`;
}

/** A code as people type it, in any case, with or without the hyphen; null: it cannot be one. */
export function readUserCode(text: string): string | null {
  const letters = text.toUpperCase().replace(/[\s-]/g, "");
  const isCode = letters.length === 2 * HALF && [...letters].every((letter) => LETTERS.includes(letter));
  return isCode ? `${letters.slice(0, HALF)}-${letters.slice(HALF)}` : null;
}
