import type { JsonBody, Member } from "../call.ts";
import { GatewayError, refuse } from "../errors.ts";
import { BATCH_LINE } from "../http/deciding-names.ts";
import { valueAt } from "../http/json-value.ts";
import { scanJson } from "../http/scan.ts";
import { isBlankLine, lineSplitter } from "./line-splitter.ts";
import { lineEndpoints, lineSurface, type Resolver } from "./resolve.ts";

export type RequestLines = ReturnType<typeof requestLines>;

/** Rewrites a file of requests, line by line: only `model` and `route` change. @throws GatewayError naming the line. */
export function requestLines(resolver: Resolver, lineBytesMax: number) {
  const splitter = lineSplitter(lineBytesMax);
  let number = 0;
  let endpoint: string | null = null;

  function resolved(line: Uint8Array): Uint8Array {
    number += 1;
    if (isBlankLine(line)) return line;
    try {
      const request = scanJson(line, BATCH_LINE);
      const url = singleMember(request, "url");
      const address = valueAt(line, url);
      const surface = lineSurface(address);
      if (surface === null || typeof address !== "string")
        refuse(`\`url\` must be one of ${lineEndpoints()}.`);
      if (endpoint !== null && endpoint !== address)
        refuse("All requests of a file must have the same `url`.");
      endpoint = address;
      const { valueStart, valueEnd } = singleMember(request, "body");
      const body = resolver.resolve(surface, line.subarray(valueStart, valueEnd));
      return Buffer.concat([line.subarray(0, valueStart), body, line.subarray(valueEnd)]);
    } catch (error) {
      throw error instanceof GatewayError
        ? new GatewayError(error.type, `Line ${number}: ${error.message}`, error)
        : error;
    }
  }

  return {
    /** The lines completed by `bytes`, rewritten for the provider. */
    push: (bytes: Uint8Array): Uint8Array[] => splitter.push(bytes).map(resolved),
    end: (): Uint8Array[] => {
      const last = splitter.end();
      return last.length === 0 ? [] : [resolved(last)];
    },
    /** The `url` shared by all lines; null before the first line. */
    get endpoint(): string | null {
      return endpoint;
    },
  };
}

/** Rejects duplicates, because another JSON reader may pick a different one. @throws GatewayError invalid_request */
export function singleMember({ members }: JsonBody, name: string): Member {
  const [member, another] = members.get(name) ?? [];
  if (!member || another) refuse(`\`${name}\` must be there once.`);
  return member;
}
