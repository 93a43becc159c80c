import { domainToASCII, domainToUnicode } from "node:url";
import { storedEmail } from "#shared/admin/people.ts";

const isAscii = (text: string): boolean => !/[^\x20-\x7e]/.test(text);

/**
 * How people's e-mails may spell this one: as it is, and its domain in ASCII and in Unicode (IDNA). Null: it holds a letter that
 * can pass for another, in the part before the @, or in a label that IDNA folds to ASCII (the Kelvin sign to `k`).
 */
export function spellingsOfEmail(email: string): string[] | null {
  const at = email.lastIndexOf("@");
  const [local, domain] = [email.slice(0, at), email.slice(at + 1)];
  const isPlain = (label: string) => isAscii(label) || domainToASCII(label).startsWith("xn--");
  if (!isAscii(local) || !domain.split(".").every(isPlain)) return null;
  const domains = [domain, domainToASCII(domain), domainToUnicode(domain)].filter((it) => it !== "");
  return [...new Set(domains.map((it) => storedEmail(`${local}@${it}`)))];
}
