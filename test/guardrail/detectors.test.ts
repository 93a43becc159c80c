import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { detectorSearch } from "#gateway/guardrail/detectors.ts";
import { DETECTORS, type DetectorName } from "#shared/admin/guardrails.ts";

const isIn = (detector: DetectorName, text: string) => detectorSearch(detector).found(text);

const FOUND: Record<DetectorName, string[]> = {
  email: ["write to jane.doe+x@mail.example.org, please", "a_b@example.com", "<o'neil@sub.example.ie>"],
  phone: ["call +41 44 668 18 00", "+1 (202) 555-0143.", "(202) 555-0143", "202-555-0143", "+4915123456789"],
  iban: [
    "DE89 3704 0044 0532 0130 00 please",
    "pay GB82WEST12345698765432 now",
    "ch93 0076 2011 6238 5295 7",
    "no12 abcdef DE89370400440532013000",
  ],
  payment_card: [
    "4111 1111 1111 1111",
    "card 5555-5555-5555-4444 exp 12/30",
    "378282246310005",
    "12 4111 1111 1111 1111 99",
    "6011111111111117",
  ],
  national_id: [
    "ssn 078-05-1120",
    "NI AB123456C",
    "DNI 12345678Z",
    "NIE X1234567L",
    "CF RSSMRA85T10A562S",
    "AHV 756.9217.0769.85",
    "CPF 529.982.247-25",
    "NIR 2 69 05 49 588 157 80",
  ],
  api_key: [
    "AKIAIOSFODNN7EXAMPLE",
    `key=sk-ant-${"a1".repeat(20)}`,
    `"sk-proj-${"b2".repeat(20)}"`,
    `ghp_${"c3".repeat(18)}`,
    `AIza${"d".repeat(35)}`,
    `xoxb-${"1".repeat(12)}`,
  ],
  private_key: [
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----",
  ],
};

const PASSED: Record<DetectorName, string[]> = {
  email: ["@types/bun", "bun@1.4.5", "a @ b.com", "git@"],
  phone: ["2026-11-21", "version 1.2.3", "+12", "192.168.100.1000", "1234567890123"],
  iban: ["DE89 3704 0044 0532 0130 01", "AB12 3456", "GB82 WEST 1234 5698 7654 33", "XX00"],
  payment_card: ["4111 1111 1111 1112", "1732195200000", "12345678901234567890", "4111111111111111111111"],
  national_id: ["000-12-3456", "12345678A", "756.9217.0769.86", "529.982.247-26", "2026-11-21 10:00"],
  api_key: ["sk-learn", "AKIA", "task-force-of-twenty-something", "disk-aaaaaaaaaaaaaaaaaaaaaaaaaa"],
  private_key: ["-----BEGIN PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----"],
};

describe.each([...DETECTORS])("%s", (detector) => {
  test.each(FOUND[detector])("is found in %s", (text) => {
    expect(isIn(detector, text)).toBe(true);
  });
  test.each(PASSED[detector])("is not found in %s", (text) => {
    expect(isIn(detector, text)).toBe(false);
  });
  test("is found wherever it stands between words", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...FOUND[detector]),
        fc.stringMatching(/^[a-z ,.\n]{0,200}$/),
        fc.stringMatching(/^[a-z ,.\n]{0,200}$/),
        (text, before, after) => isIn(detector, `${before}\n${text}\n${after}`),
      ),
      { numRuns: 50 },
    );
  });
});
