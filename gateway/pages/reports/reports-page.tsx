import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SavedReportView } from "#shared/admin/reports.ts";
import { dimensionWord } from "#shared/report-words.ts";
import { useAddress } from "../data/address.ts";
import { listSearch } from "../data/list-search.ts";
import { REPORTS_QUERY } from "../data/reports.ts";
import { Answered, Empty, PageHead, Panel } from "../parts/page.tsx";
import { Foreign } from "../parts/values.tsx";
import { SOURCE_WORDS } from "../parts/words.ts";

const readSearch = listSearch(["q"]);

/** Built-in and saved reports. */
export function ReportsPage() {
  const [{ q = "" }, change] = useAddress(readSearch);
  const reports = useQuery(REPORTS_QUERY);
  const matches = ({ id, title, description }: SavedReportView) =>
    `${id} ${title} ${description}`.toLowerCase().includes(q.toLowerCase());
  return (
    <>
      <PageHead title="Reports">
        <TextInput
          size="xs"
          aria-label="Search reports"
          placeholder="Search"
          data-search
          value={q}
          onChange={(event) => change({ q: event.currentTarget.value || undefined }, { replace: true })}
        />
      </PageHead>
      <Answered query={reports} height={480}>
        {({ data }) => (
          <>
            <Panel title="Saved" sub="Made in Explore, by the API, or from a file.">
              <List
                reports={data.filter((report) => !report.built_in && matches(report))}
                none={
                  <Empty
                    title="No saved report"
                    next={
                      <Link to="/explore" className="link">
                        Open Explore
                      </Link>
                    }
                  >
                    Ask for what you need in Explore, then save it as a report. Others will find it here, too.
                  </Empty>
                }
              />
            </Panel>
            <Panel title="Built in">
              <List
                reports={data.filter((report) => report.built_in && matches(report))}
                none={<p className="mute">No report has this name.</p>}
              />
            </Panel>
          </>
        )}
      </Answered>
    </>
  );
}

function List({ reports, none }: { reports: readonly SavedReportView[]; none: React.ReactNode }) {
  if (reports.length === 0) return none;
  return (
    <ul className="plain-list">
      {reports.map(({ id, title, description, spec }) => (
        <li key={id}>
          <Link to="/reports/$id" params={{ id }} className="row-link">
            <b>
              <Foreign text={title} whole />
            </b>
          </Link>{" "}
          <span className="tag">{SOURCE_WORDS[spec.source]}</span>{" "}
          <span className="mute small">{spec.dimensions.map(dimensionWord).join(" × ")}</span>
          <div className="mute small">
            <Foreign text={description} whole />
          </div>
        </li>
      ))}
    </ul>
  );
}
