import { useHotkeys } from "@mantine/hooks";
import { useState } from "react";

type RowKeys = { count: number; open: (row: number) => void; show: (row: number) => void };

/** `j` and `k` choose a row, Enter opens it. @returns the chosen row; -1: none. */
export function useRowKeys({ count, open, show }: RowKeys): number {
  const [active, setActive] = useState(-1);
  const move = (by: number) => () => {
    const next = Math.min(Math.max(active + by, 0), count - 1);
    setActive(next);
    if (next >= 0) show(next);
  };
  const isElsewhere = () => document.activeElement?.closest("a, button, input, select, textarea") !== null;
  useHotkeys([
    ["j", move(1)],
    ["k", move(-1)],
    ["Enter", () => active >= 0 && !isElsewhere() && open(active), { preventDefault: false }],
  ]);
  return active;
}
