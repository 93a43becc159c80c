import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { Spec } from "#shared/report.ts";
import { saveCsv } from "../data/reports.ts";
import { Fault } from "./page.tsx";

/** The report as a file for spreadsheets. */
export function CsvButton({ spec, as_of }: { spec: Spec; as_of?: string | undefined }) {
  const save = useMutation({ mutationFn: () => saveCsv(spec, { as_of }) });
  return (
    <>
      <Button size="xs" loading={save.isPending} onClick={() => save.mutate()}>
        CSV
      </Button>
      {save.error && <Fault error={save.error} retry={save.mutate} />}
    </>
  );
}
