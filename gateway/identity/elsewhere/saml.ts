import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { fits } from "#shared/schema.ts";
import { keepSamlReturn, takeSamlReturn } from "../../stores/identity/saml-returns.ts";
import { withStoreErrors } from "../../stores/store-errors.ts";
import { SamlAnswer, type SamlConfig, samlClient } from "./saml-answer.ts";
import { openSamlReader } from "./saml-reader.ts";
import { SignInFault, type WayIn } from "./way-in.ts";

export type SamlDeps = {
  database: Database;
  clock: Clock;
  /** URL at which browsers reach the gateway, which is its entity id, too. */
  url: string;
};

export type SamlWayIn = WayIn & {
  /** Verifies what a browser posts for the identity provider; the code for its next request. @throws SignInFault */
  receive(response: string): Promise<string>;
};

/**
 * Sign-in by SAML 2.0: signed assertions only, for this gateway, and for a request of the same browser. The answer comes
 * as another site's form, with which browsers send no `Lax` cookie. So it is verified, kept under a one-time code for a
 * minute, and counts only with the request that follows, which has the cookie.
 */
export function samlWayIn(config: SamlConfig, deps: SamlDeps): SamlWayIn {
  const { database, clock, url } = deps;
  const parties = { ...config, url };
  const read = openSamlReader(parties);
  return {
    async authorizationUrl({ nonce }, state) {
      const client = await samlClient(parties, requestIdOf(nonce));
      return new URL(await client.getAuthorizeUrlAsync(state, undefined, {}));
    },
    async receive(response) {
      const now = clock.now();
      const { answer, ...assertion } = await read(response, now.getTime());
      const used = { id: assertion.assertionId, issuer: config.issuer, endsAt: new Date(assertion.endsAtMs) };
      const text = JSON.stringify(answer);
      const code = await withStoreErrors(() => keepSamlReturn(database, { answer: text, used, now }));
      if (code === null) throw new SignInFault("invalid_answer");
      return code;
    },
    async identify({ nonce }, { code }) {
      const text = await withStoreErrors(() => takeSamlReturn(database, code, clock.now()));
      const answer: unknown = text === null ? null : JSON.parse(text);
      if (!fits(SamlAnswer, answer) || answer.requestId !== requestIdOf(nonce)) {
        throw new SignInFault("invalid_answer");
      }
      const { requestId: _, ...person } = answer;
      return { way: "saml", issuer: config.issuer, githubLogin: null, ...person };
    },
  };
}

/** An XML id must not begin with a digit, and the nonce itself stays in the cookie. */
const requestIdOf = (nonce: string): string =>
  `_${new Bun.CryptoHasher("sha256").update(nonce).digest("hex")}`;
