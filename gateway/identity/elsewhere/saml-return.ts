import { SignInFault } from "./way-in.ts";
import type { Ways } from "./ways.ts";

/** The browser's next request has its cookie, and the code of a verified answer, or an error instead. */
export async function answerReceived({ ways }: { ways: Pick<Ways, "saml"> }, form: URLSearchParams) {
  const query = new URLSearchParams({ state: form.get("RelayState") ?? "" });
  const [name, value] = await outcomeOf(ways, form.get("SAMLResponse") ?? "");
  query.set(name, value);
  const headers = { location: `/auth/callback/saml?${query}`, "cache-control": "no-store" };
  return new Response(null, { status: 303, headers });
}

async function outcomeOf(ways: Pick<Ways, "saml">, response: string): Promise<["code" | "error", string]> {
  const saml = await ways.saml();
  if (saml === null) return ["error", "not_set_up"];
  try {
    return ["code", await saml.receive(response)];
  } catch (error) {
    if (error instanceof SignInFault) return ["error", error.reason];
    throw error;
  }
}
