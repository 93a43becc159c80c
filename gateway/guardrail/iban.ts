import { words } from "#shared/words.ts";

/** Country code and total length of an IBAN (ISO 13616 registry). */
const REGISTRY = `
  AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28
  EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26
  IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28
  NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25
  SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30
`;
const LENGTHS = new Map(words(REGISTRY).map((entry) => [entry.slice(0, 2), Number(entry.slice(2))] as const));

const BEGINNING = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}/g;
/** Twice the longest IBAN, because a separator may follow each character. */
const REACH = 66;

/** Whether a text contains an IBAN: a country's length and the modulo 97 check. Linear time. */
export function hasIban(text: string): boolean {
  for (const { index } of text.matchAll(BEGINNING)) {
    const length = LENGTHS.get(text.slice(index, index + 2).toUpperCase());
    if (length !== undefined && isIban(text.slice(index, index + REACH), length)) return true;
  }
  return false;
}

function isIban(text: string, length: number): boolean {
  const grouped = text.match(/^[A-Za-z0-9]+(?:[ -][A-Za-z0-9]+)*/)?.[0] ?? "";
  const digits = grouped.replace(/[ -]/g, "").slice(0, length).toUpperCase();
  return digits.length === length && remainder(digits.slice(4) + digits.slice(0, 4)) === 1;
}

/** The characters as a number modulo 97, with A = 10 to Z = 35. */
function remainder(characters: string): number {
  let rest = 0;
  for (const character of characters) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}
