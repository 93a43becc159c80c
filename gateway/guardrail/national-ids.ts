type NationalId = { form: RegExp; checks(found: string): boolean };

const digitsOf = (text: string): number[] => [...text.replace(/\D/g, "")].map(Number);
const weighted = (digits: readonly number[], weight: (place: number) => number): number =>
  digits.reduce((sum, digit, place) => sum + digit * weight(place), 0);

const unchecked = () => true;

/** Spain (DNI, NIE): the letter encodes the number modulo 23. An NIE has X, Y or Z as its first digit. */
function checksDni(found: string): boolean {
  const number = Number(found.slice(0, -1).replace("X", "0").replace("Y", "1").replace("Z", "2"));
  return "TRWAGMYFPDXBNJZSQVHLCKE".charAt(number % 23) === found.at(-1);
}

/** France (NIR): the key is 97 minus the thirteen digits modulo 97. Corsica's 2A and 2B count as 19 and 18. */
function checksNir(found: string): boolean {
  const plain = found.replace(/ /g, "").replace("2A", "19").replace("2B", "18");
  return 97n - (BigInt(plain.slice(0, 13)) % 97n) === BigInt(plain.slice(13));
}

/** Switzerland (AHV): the EAN-13 check digit. */
const checksAhv = (found: string): boolean =>
  weighted(digitsOf(found), (place) => (place % 2 === 0 ? 1 : 3)) % 10 === 0;

/** Brazil (CPF): two check digits modulo 11. Eleven equal digits pass the check but are never issued. */
function checksCpf(found: string): boolean {
  const digits = digitsOf(found);
  const check = (count: number) =>
    ((weighted(digits.slice(0, count), (place) => count + 1 - place) * 10) % 11) % 10;
  return new Set(digits).size > 1 && check(9) === digits[9] && check(10) === digits[10];
}

/** Fixed-length forms, so that a search takes linear time. */
const NATIONAL_IDS: readonly NationalId[] = [
  // United States: social security number, without areas and groups that are never issued.
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

/** Whether a text contains a national id number in its country's usual notation. */
export const hasNationalId = (text: string): boolean =>
  NATIONAL_IDS.some(({ form, checks }) => [...text.matchAll(form)].some(([found]) => checks(found)));
