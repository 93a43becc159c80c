import { Button, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { asItIs, useAddress } from "../data/address.ts";
import { count } from "./format.ts";
import { EmptyPanel, Fault, Waiting } from "./page.tsx";

type ListProps<Item> = {
  list: {
    items: readonly Item[] | undefined;
    error: unknown;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage(): unknown;
    refetch(): unknown;
  };
  /** Shown where nothing matches. */
  none: ReactNode;
  children: (items: readonly Item[]) => ReactNode;
};

/** Where a list is narrowed too far. */
export const NoMatch = () => (
  <EmptyPanel title="Nothing matches">Remove a filter, or choose another value.</EmptyPanel>
);

/** A list's items, and a way to more of them. */
export function ListPage<Item>({ list, none, children }: ListProps<Item>) {
  const [address] = useAddress(asItIs);
  const isSorted = Object.keys(address).some((name) => /(^|\.)sort$/.test(name));
  if (list.items === undefined) {
    return list.error ? (
      <Fault error={list.error} retry={() => void list.refetch()} />
    ) : (
      <Waiting height={480} />
    );
  }
  if (list.items.length === 0) return none;
  return (
    <>
      {children(list.items)}
      {list.hasNextPage && (
        <Group className="no-print" justify="center" mb="md">
          {isSorted && (
            <span className="mute small">Only the {count(list.items.length)} shown are sorted.</span>
          )}
          <Button size="xs" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show more
          </Button>
        </Group>
      )}
    </>
  );
}
