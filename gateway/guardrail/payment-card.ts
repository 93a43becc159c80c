/** Prefixes and lengths of card numbers (ISO/IEC 7812, the schemes' tables). */
const SCHEMES: readonly { begins: RegExp; lengths: readonly number[] }[] = [
  { begins: /^4/, lengths: [13, 16, 19] },
  { begins: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  { begins: /^3[47]/, lengths: [15] },
  { begins: /^3(?:0[0-5]|[689])/, lengths: [14] },
  { begins: /^(?:6011|64[4-9]|65|62|35(?:2[89]|[3-8]))/, lengths: [16, 17, 18, 19] },
  { begins: /^(?:50|5[6-9]|6[0-9])/, lengths: [16, 18, 19] },
];

const BEGINNING = /(?<!\d)[2-6]/g;
/** The longest number, a separator after each digit, and one more character. */
const REACH = 39;
const DIGIT = /\d/;

/** Whether a text contains a payment card number: a scheme's prefix and length, and the Luhn check. */
export function hasPaymentCard(text: string): boolean {
  for (const { index } of text.matchAll(BEGINNING)) {
    if (beginsWithCard(text.slice(index, index + REACH))) return true;
  }
  return false;
}

function beginsWithCard(text: string): boolean {
  let digits = "";
  for (let at = 0; at < text.length && digits.length < 19; at += 1) {
    const character = text.charAt(at);
    if (DIGIT.test(character)) digits += character;
    else if (!isSeparator(character) || !DIGIT.test(text.charAt(at + 1))) break;
    if (!DIGIT.test(text.charAt(at + 1)) && isCard(digits)) return true;
  }
  return false;
}

const isSeparator = (character: string): boolean => character === " " || character === "-";

const isCard = (digits: string): boolean =>
  SCHEMES.some(({ begins, lengths }) => lengths.includes(digits.length) && begins.test(digits)) &&
  passesLuhn(digits);

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits.charAt(digits.length - 1 - place));
    const counted = place % 2 === 1 ? digit * 2 : digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}
