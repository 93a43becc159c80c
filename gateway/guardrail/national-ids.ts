type NationalId = { form: RegExp; checks(found: string): boolean };

const digitsOf = (text: string): number[] => [...text.replace(/\D/g, "")].map(Number);
const weighted = (digits: readonly number[], weight: (place: number) => number): number =>
  digits.reduce((sum, digit, place) => sum + digit * weight(place), 0);

const unchecked = () => true;

/** Spain's letter: the number modulo 23. A foreigner's number has X, Y or Z for its first digit. */
function checksDni(found: string): boolean {
  const number = Number(found.slice(0, -1).replace("X", "0").replace("Y", "1").replace("Z", "2"));
  return "TRWAGMYFPDXBNJZSQVHLCKE".charAt(number % 23) === found.at(-1);
}

/** France: the thirteen digits and the key are 97 together. Corsica's 2A and 2B count as 19 and 18. */
function checksNir(found: string): boolean {
  const plain = found.replace(/ /g, "").replace("2A", "19").replace("2B", "18");
  return 97n - (BigInt(plain.slice(0, 13)) % 97n) === BigInt(plain.slice(13));
}

/** Switzerland: the check digit of EAN-13. */
const checksAhv = (found: string): boolean =>
  weighted(digitsOf(found), (place) => (place % 2 === 0 ? 1 : 3)) % 10 === 0;

/** Brazil: two check digits modulo 11; eleven equal digits check but are nobody's. */
function checksCpf(found: string): boolean {
  const digits = digitsOf(found);
  const check = (count: number) =>
    ((weighted(digits.slice(0, count), (place) => count + 1 - place) * 10) % 11) % 10;
  return new Set(digits).size > 1 && check(9) === digits[9] && check(10) === digits[10];
}

/** Forms of fixed length, so that looking for one takes no more steps than the text has characters. */
const NATIONAL_IDS: readonly NationalId[] = [
  // United States: social security number, without areas and groups that are never given out.
  { form: /(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g, checks: unchecked },
  // United Kingdom: national insurance number.
  {
    form: /(?<![A-Z0-9])(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![A-Z0-9])/g,
    checks: unchecked,
  },
  { form: /(?<![A-Z0-9])[XYZ\d]\d{7}[A-Z](?![A-Z0-9])/g, checks: checksDni },
  // Italy: codice fiscale.
  {
    form: /(?<![A-Z0-9])[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?![A-Z0-9])/g,
    checks: unchecked,
  },
  {
    form: /(?<!\d)[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}(?!\d)/g,
    checks: checksNir,
  },
  { form: /(?<!\d)756\.\d{4}\.\d{4}\.\d{2}(?!\d)/g, checks: checksAhv },
  { form: /(?<!\d)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)/g, checks: checksCpf },
];

/** Whether a text holds a person's number of one of these countries, in the form that it is written in there. */
export const hasNationalId = (text: string): boolean =>
  NATIONAL_IDS.some(({ form, checks }) => [...text.matchAll(form)].some(([found]) => checks(found)));
