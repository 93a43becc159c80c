import { useMediaQuery } from "@mantine/hooks";
import { Fragment, type ReactNode, type RefObject, useLayoutEffect, useState } from "react";
import type { Column, Columns } from "./columns.tsx";

export type Named<Row> = Column<Row> & { id: string };

/**
 * On a phone folded columns are below the first one, with their names. So are the others that find no room beside it: words
 * give way before figures, and the last ones first.
 */
export function useFittingColumns<Row>(of: Columns<Row>, place: RefObject<HTMLElement | null>): Named<Row>[] {
  const isNarrow = useMediaQuery("(max-width: 480px)", false, { getInitialValueInEffect: false });
  const [crowded, setCrowded] = useState(0);
  const all = Object.entries(of).map(([id, column]) => ({ id, ...column }));
  const [first, ...others] = all;
  const rank = ({ isFolded, isNumber }: Column<Row>) => (isFolded ? 0 : isNumber ? 2 : 1);
  const order = others.toReversed().toSorted((a, b) => rank(a) - rank(b));
  const isBelow = new Set(order.slice(0, others.filter(({ isFolded }) => isFolded).length + crowded));
  const below = others.filter((it) => isBelow.has(it));
  useLayoutEffect(() => {
    const { scrollWidth = 0, clientWidth = 0 } = place.current ?? {};
    if (isNarrow && scrollWidth > clientWidth && below.length < others.length - 1) setCrowded(crowded + 1);
  });
  if (!isNarrow || !first || below.length === 0) return all;
  const under = (show: (column: Named<Row>) => ReactNode) => (
    <div className="below" key="below">
      {below.map((it) => {
        const shown = show(it);
        return shown === undefined ? null : (
          <span key={it.id}>
            <b>{it.head}</b> {shown}
          </span>
        );
      })}
    </div>
  );
  const name = {
    ...first,
    cell: (row: Row) => [<Fragment key="name">{first.cell(row)}</Fragment>, under(({ cell }) => cell(row))],
    foot: first.foot && [<Fragment key="name">{first.foot}</Fragment>, under(({ foot }) => foot)],
  };
  return [name, ...others.filter((it) => !isBelow.has(it))];
}
