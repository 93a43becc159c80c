import type { RequestRow } from "#drizzle/schema/records.ts";
import { type Recorder, type RecorderOptions, startRecorder } from "#gateway/recorder/recorder.ts";
import { systemClock } from "#shared/clock.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import { keptLog, scratch } from "./embedded.ts";

/** A call on its way, as `openEntry` makes it. */
export const openRow = (overrides: Partial<RequestRow> = {}): RequestRow => ({
  orgId: DEFAULT_ORG,
  id: newId(),
  startedAt: new Date().toISOString(),
  surface: "chat.completions",
  channel: "api",
  state: "interrupted",
  streamed: false,
  attempts: 1,
  route: "summaries",
  routeSource: "model",
  provider: "openai",
  model: "gpt-test",
  keyId: "01900000-0000-7000-8000-000000000001",
  client: "curl",
  tags: ["nightly"],
  usageSource: "none",
  unpriced: true,
  partial: true,
  ...overrides,
});

/** The end of that call: answered and priced. */
export const settledRow = (row: RequestRow, overrides: Partial<RequestRow> = {}): RequestRow => ({
  ...row,
  state: "ok",
  status: 200,
  latencyMs: 12,
  usageSource: "provider",
  inputTokens: 10,
  uncachedInputTokens: 10,
  outputTokens: 3,
  costUsd: "0.000123",
  unpriced: false,
  partial: false,
  ...overrides,
});

export type TestRecorder = Recorder & { log: ReturnType<typeof keptLog>; directory: string };

const own: (() => void)[] = [];

/** A new directory, which `removeOwnDirectories` removes. */
export function ownDirectory(): string {
  const { path, remove } = scratch();
  own.push(remove);
  return path;
}

export function removeOwnDirectories(): void {
  for (const remove of own.splice(0)) remove();
}

/** A recorder on a directory of its own, unless told another, with a log that keeps its lines. */
export async function testRecorder(
  options: Pick<RecorderOptions, "databaseUrl"> & Partial<RecorderOptions>,
): Promise<TestRecorder> {
  const log = keptLog();
  const directory = options.directory ?? ownDirectory();
  const recorder = await startRecorder({
    sync: "normal",
    bytesMax: 64 * 1024 * 1024,
    clock: systemClock,
    log,
    ...options,
    directory,
  });
  return { ...recorder, log, directory };
}
