import { until } from "./until.ts";

const MEBIBYTE = 1024 ** 2;

/** The memory that a process takes now. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** What a gateway takes once what it does at its start, such as training, has ended. */
export async function settledBytes(pid: number): Promise<number> {
  const last: number[] = [];
  await until(async () => {
    await Bun.sleep(250);
    last.push(await residentBytes(pid));
    const recent = last.slice(-10);
    return recent.length === 10 && Math.max(...recent) - Math.min(...recent) < MEBIBYTE;
  });
  return last.at(-1) ?? 0;
}
