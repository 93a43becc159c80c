import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ProviderTestResult } from "#shared/admin/providers.ts";
import { sendJson } from "../data/api.ts";
import { duration } from "../parts/format.ts";
import { Fault } from "../parts/states.tsx";

/** Asks the provider for its models, and says in words what came of it. */
export function ProviderTest({ name }: { name: string }) {
  const test = useMutation({
    mutationFn: () =>
      sendJson<ProviderTestResult>(`/admin/v1/providers/${encodeURIComponent(name)}/test`, {
        method: "POST",
      }),
  });
  return (
    <div className="note" role="status">
      <Button size="compact-sm" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        Test the connection
      </Button>{" "}
      {test.error && <Fault error={test.error} />}
      {test.data && (
        <>
          <b>{test.data.ok ? "It works." : "It does not work."}</b> {test.data.message} (
          {duration(test.data.latency_ms)})
        </>
      )}
    </div>
  );
}
