import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { atEnd } from "#test/support/at-end.ts";

export type Signing = "its key" | "another key" | "unsigned" | "client secret";

/** An issuer that answers any code with the id token that the test makes. */
export type HostileIssuer = { url: string; next: { claims: object; as?: Signing } };

export async function hostileIssuer(clientSecret: string): Promise<HostileIssuer> {
  const own = await generateKeyPair("RS256", { extractable: true });
  const another = await generateKeyPair("RS256", { extractable: true });
  const keys = [{ ...(await exportJWK(own.publicKey)), kid: "1", alg: "RS256", use: "sig" }];
  const issuer: HostileIssuer = { url: "", next: { claims: {} } };
  const idToken = async () => {
    const { claims, as = "its key" } = issuer.next;
    const payload = JSON.parse(JSON.stringify(claims));
    if (as === "unsigned") return new UnsecuredJWT(payload).encode();
    const bySecret = new SignJWT(payload).setProtectedHeader({ alg: "HS256" });
    if (as === "client secret") return await bySecret.sign(new TextEncoder().encode(clientSecret));
    const signed = new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid: "1" });
    return await signed.sign(as === "its key" ? own.privateKey : another.privateKey);
  };
  const discovery = () => ({
    issuer: issuer.url,
    authorization_endpoint: `${issuer.url}/authorize`,
    token_endpoint: `${issuer.url}/token`,
    jwks_uri: `${issuer.url}/jwks`,
    // It offers what no client may accept.
    id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
  });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/jwks") return Response.json({ keys });
      if (pathname !== "/token") return Response.json(discovery());
      return Response.json({ access_token: "any", token_type: "bearer", id_token: await idToken() });
    },
  });
  atEnd(() => server.stop(true));
  issuer.url = `http://127.0.0.1:${server.port}`;
  return issuer;
}
