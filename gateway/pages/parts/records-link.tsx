import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { RangeName } from "#shared/report.ts";
import { recordSearch } from "../data/record-search.ts";
import type { FrameSearch } from "../data/search.ts";

/** To the records behind the figures. */
export function RecordsLink({ search, fallback }: { search: FrameSearch; fallback: RangeName }) {
  const records = recordSearch(search, fallback);
  return (
    <Button
      variant="default"
      size="xs"
      className="no-print"
      renderRoot={(props) => <Link to="/requests" search={records} {...props} />}
    >
      Records
    </Button>
  );
}
