import { Button } from "@mantine/core";
import { useState } from "react";
import type { Spec } from "#shared/report.ts";
import { saveCsv } from "../data/reports.ts";
import { Fault } from "./states.tsx";

/** The report as a file for spreadsheets. */
export function CsvButton({ spec }: { spec: Spec }) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const save = () => {
    setBusy(true);
    setError(null);
    void saveCsv(spec)
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return (
    <>
      <Button variant="default" size="xs" loading={isBusy} onClick={save}>
        CSV
      </Button>
      {error !== null && <Fault error={error} retry={save} />}
    </>
  );
}
