import { closeSync, read } from "node:fs";
import { promisify } from "node:util";
import type { Made } from "../stores/reports/report-messages.ts";

/** What is true of an answer so far: whether it has all calls that had ended when it was asked for. */
export type Wholeness = { complete: boolean };

export const incompleteHeader = ({ complete }: Wholeness): Record<string, string> =>
  complete ? {} : { "x-gateway-report-incomplete": "true" };

export const answer = (whole: Wholeness, made: Made): Response =>
  new Response(made, {
    headers: {
      ...incompleteHeader(whole),
      "content-type": "application/json",
      ...(typeof made === "string" ? {} : { "content-encoding": "gzip" }),
      vary: "accept-encoding",
    },
  });

export const schemaAnswer = (value: unknown): Response => answer({ complete: true }, JSON.stringify(value));

const CHUNK_BYTES = 65_536;

/** A file as fast as it is taken; then it is closed. */
export function fileStream(fd: number): ReadableStream<Uint8Array> {
  const readAt = promisify(read);
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      const { bytesRead, buffer } = await readAt(fd, Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, at).catch(
        (error) => {
          closeSync(fd);
          throw error;
        },
      );
      at += bytesRead;
      if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
      closeSync(fd);
      controller.close();
    },
    cancel: () => closeSync(fd),
  });
}
