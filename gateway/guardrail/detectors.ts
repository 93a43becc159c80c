import { RE2JS } from "re2js";
import type { DetectorName } from "#shared/admin/guardrails.ts";
import type { TextSearch } from "../directory.ts";
import { matchesInPiece } from "./cut-text.ts";
import { hasIban } from "./iban.ts";
import { hasNationalId } from "./national-ids.ts";
import { hasPaymentCard } from "./payment-card.ts";

/** Large enough to keep pieces few, small enough to search one in a few milliseconds. */
const CHARACTERS_AT_ONCE = 32_768;

const found = (test: (text: string) => boolean): TextSearch => ({
  charactersMax: CHARACTERS_AT_ONCE,
  found: test,
});

const inLinearTime = (source: string): TextSearch => {
  const pattern = RE2JS.compile(source);
  return {
    ...found((text) => pattern.test(text)),
    confirms: (text, piece) => matchesInPiece(pattern, text, piece),
  };
};

/** E.164 with a plus sign, or North America's grouping of ten digits. */
const PHONE =
  "\\+[1-9](?:[ .()/-]{0,2}\\d){7,14}(?:\\D|$)|(?:^|[^\\d.-])(?:\\(\\d{3}\\) ?|\\d{3}[.-])\\d{3}[.-]\\d{4}(?:\\D|$)";

const EMAIL = "[A-Za-z0-9_%+.'-]+@(?:[A-Za-z0-9-]+\\.)+[A-Za-z]{2,24}(?:[^A-Za-z0-9]|$)";

/** Prefixes of vendors' secrets, with their minimum length. */
const API_KEY = `(?:^|[^A-Za-z0-9])(?:${[
  "(?:AKIA|ASIA)[A-Z2-7]{16}",
  "AIza[A-Za-z0-9_-]{35}",
  "GOCSPX-[A-Za-z0-9_-]{28}",
  "ya29\\.[A-Za-z0-9_-]{20}",
  "sk-(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20}",
  "(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16}",
  "gsk_[A-Za-z0-9]{40}",
  "xai-[A-Za-z0-9]{40}",
  "hf_[A-Za-z0-9]{30}",
  "gh[pousr]_[A-Za-z0-9]{36}",
  "github_pat_[A-Za-z0-9_]{22}",
  "glpat-[A-Za-z0-9_-]{20}",
  "npm_[A-Za-z0-9]{36}",
  "xox[abeprs]-[A-Za-z0-9-]{10}",
  "SG\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}",
  "AccountKey=[A-Za-z0-9+/]{86}==",
  "tg[a-z]?_[A-Za-z0-9]{43}",
].join("|")})`;

const PRIVATE_KEY = "-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----";

/** The built-in searches. Numbers with check digits match only if those are correct. */
const SEARCHES = {
  email: () => inLinearTime(EMAIL),
  phone: () => inLinearTime(PHONE),
  iban: () => found(hasIban),
  payment_card: () => found(hasPaymentCard),
  national_id: () => found(hasNationalId),
  api_key: () => inLinearTime(API_KEY),
  private_key: () => inLinearTime(PRIVATE_KEY),
} as const satisfies Record<DetectorName, () => TextSearch>;

const made = new Map<DetectorName, TextSearch>();

/** A detector's search. Compiling takes some 20 ms, so it is done for the first guardrail that names the detector. */
export function detectorSearch(name: DetectorName): TextSearch {
  const search = made.get(name) ?? SEARCHES[name]();
  made.set(name, search);
  return search;
}
