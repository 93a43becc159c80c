import type { ReactNode } from "react";
import type { RangeName, Result } from "#shared/report.ts";
import type { QueryAnswer } from "#shared/report-query.ts";
import type { FrameSearch } from "../data/search.ts";
import { FilterChips } from "./chips.tsx";
import { ComparePicker, type Frame, RangePicker } from "./frame-controls.tsx";
import { Answered, type Asked, PageHead } from "./page.tsx";
import { AnswerNote } from "./scope-note.tsx";

type ReportFrameProps<Data> = Frame & {
  title: string;
  sub?: ReactNode;
  /** The range where the address has none, and whether it is compared. */
  fallback: RangeName;
  compare: Result["spec"]["compare"];
  search: FrameSearch;
  query: Asked<Data>;
  /** The answer that says what the figures cover. */
  answer: QueryAnswer | undefined;
  /** Beside the pickers. */
  controls?: ReactNode;
  above?: ReactNode;
  height?: number;
  children: (data: Data) => ReactNode;
};

/** A page of figures over a range: its range, comparison and filters, what the figures cover, and the figures. */
export const ReportFrame = <Data,>(props: ReportFrameProps<Data>) => (
  <>
    <PageHead title={props.title} sub={props.sub}>
      <RangePicker {...props} />
      <ComparePicker {...props} result={props.answer} />
      {props.controls}
    </PageHead>
    <AnswerNote answer={props.answer} />
    {props.above}
    <FilterChips {...props} />
    <Answered {...props}>{props.children}</Answered>
  </>
);
