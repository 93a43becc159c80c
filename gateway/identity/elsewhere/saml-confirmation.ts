import { Type } from "@sinclair/typebox";
import { readInstant } from "#shared/admin/fields.ts";
import { fits, open } from "#shared/schema.ts";

const BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer";

const Confirmation = open({
  $: open({ Method: Type.Literal(BEARER) }),
  SubjectConfirmationData: Type.Tuple([
    open({
      $: open({ Recipient: Type.String(), NotOnOrAfter: Type.String(), InResponseTo: Type.String() }),
    }),
  ]),
});
const Assertion = open({
  Assertion: open({ Subject: Type.Tuple([open({ SubjectConfirmation: Type.Array(Type.Unknown()) })]) }),
});

type Expected = { recipient: string; now: Date; skewMs: number };

/**
 * The request that a signed assertion confirms for `recipient` (SAML Profiles, 4.1.4.3); null: it confirms none, or no
 * more. The response around an assertion names a request, too, but need not be signed.
 */
export function confirmedRequest(assertion: unknown, { recipient, now, skewMs }: Expected): string | null {
  if (!fits(Assertion, assertion)) return null;
  for (const it of assertion.Assertion.Subject[0].SubjectConfirmation) {
    if (!fits(Confirmation, it)) continue;
    const { Recipient, NotOnOrAfter, InResponseTo } = it.SubjectConfirmationData[0].$;
    const endMs = readInstant(NotOnOrAfter);
    const isRunning = endMs !== null && now.getTime() < endMs + skewMs;
    if (Recipient === recipient && isRunning) return InResponseTo;
  }
  return null;
}
