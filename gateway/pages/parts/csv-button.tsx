import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { Spec } from "#shared/report.ts";
import { saveCsv } from "../data/reports.ts";
import { Fault } from "./page.tsx";

/** The report as a file for spreadsheets. */
export function CsvButton({ spec }: { spec: Spec }) {
  const save = useMutation({ mutationFn: () => saveCsv(spec) });
  return (
    <>
      <Button size="xs" loading={save.isPending} onClick={() => save.mutate()}>
        CSV
      </Button>
      {save.error && <Fault error={save.error} retry={save.mutate} />}
    </>
  );
}
