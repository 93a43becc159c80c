import { expect, test } from "bun:test";
import { clientsOf } from "#github-app/github/clients.ts";
import { createMetrics } from "#github-app/metrics.ts";
import { systemClock } from "#shared/clock.ts";

test("metrics show how many installations GitHub asked to wait, and the longest wait", async () => {
  const now = new Date("2026-11-20T12:00:00Z");
  const clock = { ...systemClock, now: () => now };
  const identity = { apiUrl: "http://github.test", app: { id: 1, privateKey: "unused" } };
  const clients = clientsOf(identity, { clock });
  const metrics = createMetrics(clients.waits);
  expect(await metrics.registry.metrics()).toContain("tallygate_github_waiting 0\n");
  clients.waitUntil(7, now.getTime() + 30_000);
  clients.waitUntil(8, now.getTime() + 90_000);
  clients.waitUntil(9, now.getTime() - 1);
  const text = await metrics.registry.metrics();
  expect(text).toContain("tallygate_github_waiting 2\n");
  expect(text).toContain("tallygate_github_wait_seconds 90\n");
});
