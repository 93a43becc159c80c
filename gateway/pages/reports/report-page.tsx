import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { SavedReportView } from "#shared/admin/reports.ts";
import type { Spec } from "#shared/report.ts";
import type { ReportCatalogue } from "#shared/report-catalogue.ts";
import { useAddress } from "../data/address.ts";
import { sendJson } from "../data/api.ts";
import { frame } from "../data/parameters.ts";
import { REPORTS_QUERY, useCatalogue, useReport } from "../data/reports.ts";
import { compareIn, type FrameSearch, filtersFor, frameSearch, rangeOf } from "../data/search.ts";
import { searchOfSpec, sourceIn } from "../data/spec-search.ts";
import { narrowed } from "../parts/chips.tsx";
import { CsvButton } from "../parts/csv-button.tsx";
import { Answered, Empty, PageHead } from "../parts/page.tsx";
import { RecordsLink } from "../parts/records-link.tsx";
import { ReportFrame } from "../parts/report-frame.tsx";
import { ReportView } from "../parts/report-view.tsx";
import { plainName } from "../parts/values.tsx";
import { DeleteButton } from "../settings/delete-button.tsx";
import { addressFaults } from "../shell/address-faults.ts";
import { CannotAsk } from "../shell/no-page.tsx";

/** One built-in or saved report. The address may override its range, comparison and filters. */
export function ReportPage() {
  const { id } = useParams({ strict: false });
  const reports = useQuery(REPORTS_QUERY);
  const catalogue = useCatalogue();
  const report = reports.data?.data.find((it) => it.id === id);
  if (reports.data && !report) return <Unknown />;
  if (report && catalogue.data) return <Known report={report} catalogue={catalogue.data} />;
  return (
    <>
      <PageHead title="Reports" />
      <Answered<unknown> query={report ? catalogue : reports} height={480}>
        {() => null}
      </Answered>
    </>
  );
}

const Unknown = () => (
  <>
    <PageHead title="Reports" />
    <Empty
      title="There is no such report"
      next={
        <Link to="/reports" className="link">
          All reports
        </Link>
      }
    >
      It may have been deleted, or it belongs to another team.
    </Empty>
  </>
);

/** Filters in the address take the place of the report's own of the same dimension. */
function specFor({ spec }: SavedReportView, search: FrameSearch, catalogue: ReportCatalogue): Spec {
  const isFramed = search.range ?? search.from ?? search.to;
  return {
    ...spec,
    filters: { ...spec.filters, ...filtersFor(search, sourceIn(catalogue, spec.source)?.dimensions ?? []) },
    range: isFramed ? rangeOf(search, "30d") : spec.range,
    compare: compareIn(
      search,
      spec.measures.includes("cost_decomposition") ? "previous_period" : spec.compare,
    ),
  };
}

type KnownProps = { report: SavedReportView; catalogue: ReportCatalogue };

function Known({ report, catalogue }: KnownProps) {
  const raw: Record<string, unknown> = useSearch({ strict: false });
  const faults = addressFaults(raw, frame(sourceIn(catalogue, report.spec.source)?.dimensions));
  return faults.length > 0 ? (
    <CannotAsk title={plainName(report.title)} faults={faults} />
  ) : (
    <Asked report={report} catalogue={catalogue} />
  );
}

function Asked({ report, catalogue }: KnownProps) {
  const [search, change] = useAddress(frameSearch);
  const spec = specFor(report, search, catalogue);
  const result = useReport(spec);
  // In the address's terms: the report's own frame where the address has none.
  const shown = frameSearch(searchOfSpec(spec));
  return (
    <ReportFrame
      {...{
        title: plainName(report.title),
        search: shown,
        change,
        fallback: "30d",
        query: result,
        height: 480,
      }}
      sub={
        <>
          <Link to="/reports">All reports</Link> · {plainName(report.description)}
        </>
      }
      answer={result.data}
      compare={spec.compare}
      controls={
        <>
          {spec.source === "requests" && <RecordsLink search={shown} answer={result.data} />}
          <Button
            size="xs"
            renderRoot={(props) => <Link to="/explore" search={searchOfSpec(spec)} {...props} />}
          >
            Explore from here
          </Button>
          <CsvButton spec={spec} />
          <Button size="xs" onClick={() => window.print()}>
            Print
          </Button>
          {!report.built_in && <DeleteReport id={report.id} />}
        </>
      }
    >
      {(answer) => (
        <ReportView
          result={answer}
          catalogue={catalogue}
          choose={(dimension, value) => change(narrowed(search, dimension, value))}
        />
      )}
    </ReportFrame>
  );
}

function DeleteReport({ id }: { id: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = async () => {
    await sendJson(`/admin/v1/reports/${encodeURIComponent(id)}`, { method: "DELETE" });
    await client.invalidateQueries(REPORTS_QUERY);
    await navigate({ to: "/reports" });
  };
  const effect = "Only the saved report is deleted. Records stay.";
  return <DeleteButton name={id} verb="Delete" effect={effect} size="xs" remove={remove} />;
}
