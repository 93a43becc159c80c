import { Button } from "@mantine/core";
import { DatePicker } from "@mantine/dates";
import { useState } from "react";

type CustomRangeProps = {
  from: string | undefined;
  to: string | undefined;
  choose: (from: string, to: string) => void;
};

/** Two days, both included. */
export function CustomRange({ from, to, choose }: CustomRangeProps) {
  const [days, setDays] = useState<[string | null, string | null]>([from ?? null, to ?? null]);
  const [first, last] = days;
  return (
    <>
      {/* Red is for what is worse, not for Sundays. */}
      <DatePicker type="range" weekendDays={[]} allowSingleDateInRange value={days} onChange={setDays} />
      <Button
        variant="filled"
        fullWidth
        size="xs"
        mt="sm"
        disabled={first === null}
        onClick={() => first !== null && choose(first, last ?? first)}
      >
        Show these days
      </Button>
    </>
  );
}
