import type { Clock } from "#shared/clock.ts";
import type { Upload } from "../call.ts";
import { GatewayError } from "../errors.ts";
import type { BodyHold } from "../http/body-budget.ts";
import { type Field, formFields, modelMustComeFirst, textTooLong } from "../http/form-fields.ts";
import { multipartScanner } from "../http/multipart.ts";
import { bodyBroken, type RequestBody } from "./request-body.ts";

type Controller = ReadableStreamDefaultController<Uint8Array>;

export type OpenedUpload = { fields: readonly Field[]; upload: Upload };

export type UploadFacts = {
  boundary: string;
  /** As declared by the client; null if it is not. */
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
 * Reads a form up to its first file (a small one of a key without a scope up to its `model`), then streams all of it
 * unchanged at the provider's pace. Then only the last chunk is in memory, whatever the file size.
 * @throws GatewayError model_not_allowed, before anything is sent, if a scoped key's `model` does not come before the
 * first file; invalid_request.
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

/** Maximum size of everything before the first file. */
const HEAD_BYTES_MAX = 2 * 1024 * 1024;
/** Maximum size of a form that is held until its `model` has come. */
const HELD_BYTES_MAX = 25 * 1024 * 1024;

type FormReader = {
  /** The text fields before the first file, and `model` if it came after the file of a small form. */
  readonly fields: readonly Field[];
  /** The next bytes to forward; null after the last. A text field after the first file waits for `judge`. */
  next(judge: Parameters<Upload["onLateFields"]>[0]): Promise<Uint8Array | null>;
  /** `model`, if it came after the file. */
  trailingModel(): string | null;
};

type FormFacts = Pick<UploadFacts, "boundary" | "scoped" | "contentLength" | "hold">;

/**
 * Reads a form up to its first file, or without a scope a small one up to its `model`: the vendors' own samples put the
 * file first. For a scoped key the order is part of the contract, whatever the size.
 * @throws GatewayError model_not_allowed if a scoped key's `model` does not come before the first file; too_large;
 * bodies_too_many; invalid_request.
 */
async function openForm(
  arrival: RequestBody,
  { boundary, scoped, contentLength, hold }: FormFacts,
): Promise<FormReader> {
  const scanner = multipartScanner(boundary);
  const form = formFields(scoped);
  /** Read and not yet forwarded; null ends the form. */
  const waiting: (Uint8Array | null)[] = [];
  let judged = 0;

  async function read(): Promise<void> {
    const chunk = await arrival.next();
    if (chunk === null) scanner.end();
    else form.take(scanner.push(chunk));
    waiting.push(chunk);
  }

  for (let size = 0; !form.headSeen; size += waiting.at(-1)?.byteLength ?? 0) {
    if (size > HEAD_BYTES_MAX) throw textTooLong();
    await read();
  }
  const inHead = form.fields.some(([name]) => name === "model");
  if (scoped && !inHead) throw modelMustComeFirst();
  if (!inHead && (contentLength ?? 0) <= HELD_BYTES_MAX) {
    let held = waiting.reduce((sum, chunk) => sum + (chunk?.byteLength ?? 0), 0);
    while (form.trailingModel === null && waiting.at(-1) !== null && held <= HELD_BYTES_MAX) {
      await read();
      const size = waiting.at(-1)?.byteLength ?? 0;
      hold.take(size);
      held += size;
    }
  }
  form.decided();
  const model = form.trailingModel;

  return {
    fields: model === null ? form.fields : [...form.fields, ["model", model]],
    async next(judge) {
      if (waiting.length === 0) await read();
      while (form.textOpen) await read();
      const late = form.lateFields.slice(judged);
      judged += late.length;
      if (late.length > 0) await judge(late);
      return waiting.shift() ?? null;
    },
    trailingModel: () => form.trailingModel,
  };
}
