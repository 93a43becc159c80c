import { atEnd } from "./at-end.ts";

/** A file that the vendor keeps. */
type Kept = { id: string; filename: string; purpose: string; content: string };
type Batch = Record<string, unknown> & { id: string };

export type BatchVendor = {
  url: string;
  /** Every request, as method and path. */
  seen: string[];
  files: Map<string, Kept>;
  /** The requests of every message batch, as they arrived. */
  created: Map<string, { requests: { custom_id: string; params: { model: string } }[] }>;
  /** Bodies of `POST /v1/batches`, as they arrived. */
  batchBodies: string[];
  /** Ends a batch; its answers are of those requests for which `answers` says true. */
  finish(id: string, how?: { status?: string; answers?: (index: number) => boolean }): void;
  /** Forgets a batch, as vendors do after some weeks. */
  forget(id: string): void;
  close(): Promise<void>;
};

/** Both vendors' files and batches in memory: every answer used 1,000 tokens in and 100 out. */
export function batchVendor(): BatchVendor {
  const seen: string[] = [];
  const files = new Map<string, Kept>();
  const batches = new Map<string, Batch>();
  const created: BatchVendor["created"] = new Map();
  const results = new Map<string, string>();
  const batchBodies: string[] = [];
  let number = 0;
  const newId = (kind: string) => {
    number += 1;
    return `${kind}${number}_${crypto.randomUUID().replaceAll("-", "")}`;
  };

  async function upload(request: Request): Promise<Response> {
    const form = await request.formData();
    const file = form.get("file") as unknown as File;
    const kept = {
      id: newId("file-"),
      filename: file.name,
      purpose: String(form.get("purpose")),
      content: await file.text(),
    };
    files.set(kept.id, kept);
    return Response.json(fileObject(kept));
  }
  const fileObject = ({ id, filename, purpose, content }: Kept) => ({
    id,
    object: "file",
    bytes: Buffer.byteLength(content),
    created_at: 1_790_000_000,
    filename,
    purpose,
    status: "processed",
  });

  async function createLines(request: Request): Promise<Response> {
    const text = await request.text();
    batchBodies.push(text);
    const asked = JSON.parse(text);
    const total = (files.get(asked.input_file_id)?.content ?? "").trim().split("\n").length;
    const batch = {
      id: newId("batch_"),
      object: "batch",
      status: "in_progress",
      output_file_id: null,
      error_file_id: null,
      created_at: 1_790_000_000,
      request_counts: { total, completed: 0, failed: 0 },
      ...asked,
    };
    batches.set(batch.id, batch);
    return Response.json(batch);
  }

  async function createMessages(request: Request): Promise<Response> {
    const asked = await request.json();
    const id = newId("msgbatch_");
    created.set(id, asked);
    const batch = {
      id,
      type: "message_batch",
      processing_status: "in_progress",
      request_counts: {
        processing: asked.requests.length,
        succeeded: 0,
        errored: 0,
        canceled: 0,
        expired: 0,
      },
      created_at: "2026-11-20T10:00:00Z",
      expires_at: "2026-11-21T10:00:00Z",
      ended_at: null,
      results_url: null,
    };
    batches.set(id, batch);
    return Response.json(batch);
  }

  function finish(
    id: string,
    { status = "completed", answers = () => true }: Parameters<BatchVendor["finish"]>[1] = {},
  ) {
    const batch = batches.get(id);
    if (!batch) throw new Error("no such batch");
    const asked = created.get(id);
    if (asked) {
      const lines = asked.requests.map(({ custom_id, params }, index) => ({
        custom_id,
        result: answers(index)
          ? {
              type: "succeeded",
              message: {
                id: "m",
                type: "message",
                role: "assistant",
                content: [],
                model: params.model,
                usage: { input_tokens: 1000, output_tokens: 100, service_tier: "batch" },
              },
            }
          : { type: "errored", error: { type: "error" } },
      }));
      results.set(id, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      Object.assign(batch, {
        processing_status: "ended",
        ended_at: "2026-11-20T11:00:00Z",
        results_url: `http://vendor.invalid/v1/messages/batches/${id}/results`,
      });
      return;
    }
    const requests = (files.get(String(batch["input_file_id"]))?.content ?? "")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const lines = requests.flatMap(({ custom_id, body }, index) =>
      answers(index)
        ? [
            {
              id: "r",
              custom_id,
              response: {
                status_code: 200,
                body: {
                  object: "chat.completion",
                  model: body.model,
                  service_tier: "batch",
                  choices: [],
                  usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
                },
              },
              error: null,
            },
          ]
        : [],
    );
    Object.assign(batch, { status, completed_at: 1_790_000_100 });
    if (lines.length === 0) return;
    const output = {
      id: newId("file-"),
      filename: "out.jsonl",
      purpose: "batch_output",
      content: lines.map((line) => JSON.stringify(line)).join("\n"),
    };
    files.set(output.id, output);
    Object.assign(batch, { output_file_id: output.id });
  }

  const missing = () =>
    Response.json(
      { error: { message: "vendor: no such thing", type: "invalid_request_error" } },
      { status: 404 },
    );
  function fileRoute(request: Request, id: string, end: string): Response {
    const kept = files.get(id);
    if (!kept) return missing();
    if (end === "/content")
      return new Response(kept.content, { headers: { "content-type": "application/octet-stream" } });
    if (request.method === "GET") return Response.json(fileObject(kept));
    files.delete(id);
    return Response.json({ id, object: "file", deleted: true });
  }
  function batchRoute(request: Request, id: string, end: string): Response {
    const batch = batches.get(id);
    if (!batch) return missing();
    if (end === "/results")
      return new Response(results.get(id) ?? "", { headers: { "content-type": "application/binary" } });
    if (end === "/cancel")
      Object.assign(
        batch,
        "processing_status" in batch ? { processing_status: "canceling" } : { status: "cancelling" },
      );
    if (request.method === "DELETE") batches.delete(id);
    return Response.json(request.method === "DELETE" ? { id, type: "message_batch_deleted" } : batch);
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname } = new URL(request.url);
      seen.push(`${request.method} ${pathname}`);
      const [, , kind, id, end = ""] =
        /^\/v1(\/(messages\/batches|batches|files)(?:\/([^/]+))?(\/.*)?)$/.exec(pathname) ?? [];
      if (kind === undefined) return missing();
      if (id === undefined) {
        if (kind === "files") return upload(request);
        return kind === "batches" ? createLines(request) : createMessages(request);
      }
      return kind === "files" ? fileRoute(request, id, end) : batchRoute(request, id, end);
    },
  });
  return {
    url: server.url.origin,
    seen,
    files,
    created,
    batchBodies,
    finish,
    forget: (id) => void batches.delete(id),
    close: atEnd(() => server.stop(true)),
  };
}
