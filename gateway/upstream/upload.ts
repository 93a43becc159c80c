import type { Clock } from "#shared/clock.ts";
import type { Upload } from "../call.ts";
import { GatewayError } from "../errors.ts";
import type { BodyHold } from "../http/body-budget.ts";
import type { Field } from "../http/form-fields.ts";
import { openForm } from "./form-reader.ts";
import { bodyBroken, type RequestBody } from "./request-body.ts";

type Controller = ReadableStreamDefaultController<Uint8Array>;

export type OpenedUpload = { fields: readonly Field[]; upload: Upload };

export type UploadFacts = {
  boundary: string;
  contentLength: number | null;
  /** The key is scoped, so the model must be known before a provider is called. */
  scoped: boolean;
  /** Takes the memory of a small form that is held. */
  hold: BodyHold;
  clock: Clock;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
};

/**
 * Reads a form up to its first file (a small one up to its `model`), then streams all of it unchanged at the provider's
 * pace. Then only the last chunk is in memory, whatever the file size.
 * @throws GatewayError model_not_allowed, before anything is sent, if a scoped key's `model` has not come by then;
 * invalid_request.
 */
export async function openUpload(
  arrival: RequestBody,
  { boundary, contentLength, scoped, hold, clock, signal }: UploadFacts,
): Promise<OpenedUpload> {
  const form = await openForm(arrival, { boundary, scoped, contentLength, hold });
  let fault: GatewayError | null = null;
  let completedMs: number | null = null;
  let abort = (): void => undefined;
  let judge: Parameters<Upload["onLateFields"]>[0] = () => Promise.resolve();

  /** The provider must see a broken body, never one that seems to end normally. */
  function breakOff(controller: Controller, error: unknown): void {
    fault ??= error instanceof GatewayError ? error : new GatewayError("internal", undefined, error);
    controller.error(fault);
    abort();
  }

  async function pull(controller: Controller): Promise<void> {
    try {
      const chunk = await form.next(judge);
      if (chunk !== null) return controller.enqueue(chunk);
      completedMs = clock.monotonicMs();
      controller.close();
    } catch (error) {
      breakOff(controller, error);
    }
  }

  return {
    fields: form.fields,
    upload: {
      contentLength,
      bytes: (moved) =>
        new ReadableStream(
          {
            start: (controller) => {
              signal.addEventListener("abort", () => {
                if (completedMs === null) breakOff(controller, bodyBroken());
              });
            },
            pull: (controller) => {
              moved();
              return pull(controller);
            },
            cancel: () => arrival.cancel(),
          },
          { highWaterMark: 0 },
        ),
      onAbort: (then) => {
        abort = then;
      },
      onLateFields: (then) => {
        judge = then;
      },
      fault: () => fault,
      trailingModel: form.trailingModel,
      completedMs: () => completedMs,
    },
  };
}
