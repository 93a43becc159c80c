import { Button, Code, Menu, Modal } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { DimensionName, Spec } from "#shared/report.ts";
import type { ReportCatalogue } from "#shared/report-catalogue.ts";
import { useAddress } from "../data/address.ts";
import { explore } from "../data/parameters.ts";
import { useCatalogue, useReport } from "../data/reports.ts";
import { EXPLORE_RANGE, sourceIn, specOf, specSearch } from "../data/spec-search.ts";
import { narrowed } from "../parts/chips.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { CsvButton } from "../parts/csv-button.tsx";
import { Answered, PageHead } from "../parts/page.tsx";
import { RecordsLink } from "../parts/records-link.tsx";
import { ReportFrame } from "../parts/report-frame.tsx";
import { ReportView } from "../parts/report-view.tsx";
import { addressFaults } from "../shell/address-faults.ts";
import { CannotAsk } from "../shell/no-page.tsx";
import { Builder } from "./builder.tsx";
import { SaveReport } from "./save-report.tsx";

/** A report is put together here, and answered while it changes. Its address is the report. */
export function ExplorePage() {
  const catalogue = useCatalogue();
  return (
    <>
      {!catalogue.data && <PageHead title="Explore" />}
      <Answered query={catalogue} height={480}>
        {(known) => <Explorer catalogue={known} />}
      </Answered>
    </>
  );
}

function Explorer({ catalogue }: { catalogue: ReportCatalogue }) {
  const raw: Record<string, unknown> = useSearch({ strict: false });
  const source = sourceIn(catalogue, specSearch(raw).source ?? "requests");
  const faults = addressFaults(raw, explore(source));
  return faults.length > 0 ? (
    <CannotAsk title="Explore" faults={faults} />
  ) : (
    <Question catalogue={catalogue} />
  );
}

function Question({ catalogue }: { catalogue: ReportCatalogue }) {
  const [search, change] = useAddress(specSearch);
  const spec = useMemo(() => specOf(search, catalogue), [search, catalogue]);
  const { as_of } = search;
  const result = useReport(spec, { as_of });
  const choose = (dimension: DimensionName, value: string) => change(narrowed(search, dimension, value));
  return (
    <ReportFrame
      {...{ title: "Explore", search, change, fallback: EXPLORE_RANGE, query: result, height: 480 }}
      answer={result.data}
      compare={spec.compare}
      controls={
        <>
          {spec.source === "requests" && <RecordsLink search={search} answer={result.data} />}
          <CsvButton spec={spec} as_of={as_of} />
          <Share query={{ spec, as_of }} />
          {as_of === undefined && <SaveReport spec={spec} />}
        </>
      }
      above={<Builder spec={spec} catalogue={catalogue} search={search} change={change} />}
    >
      {(answer) => <ReportView result={shownAs(answer, spec)} catalogue={catalogue} choose={choose} />}
    </ReportFrame>
  );
}

/** The view changes at once, while the figures of the new question are still on their way. */
const shownAs = <T extends { spec: Spec }>(answer: T, { view, dimensions }: Spec): T =>
  answer.spec.dimensions.join() === dimensions.join()
    ? { ...answer, spec: { ...answer.spec, view } }
    : answer;

/** One word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** `as_of` is absent from JSON where it is undefined. */
type Query = { spec: Spec; as_of: string | undefined };

const curlOf = (query: Query): string =>
  [
    `curl ${location.origin}/v1/reports/query \\`,
    `  -H "authorization: Bearer $TALLYGATE_KEY" -H "content-type: application/json" \\`,
    `  -d ${quoted(JSON.stringify(query))}`,
  ].join("\n");

/** The report for someone else, or for a script. */
function Share({ query }: { query: Query }) {
  const [isOpen, setOpen] = useState(false);
  const clipboard = useClipboard({ timeout: 2000 });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs">{clipboard.copied ? "Copied" : "Share"}</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => clipboard.copy(location.href)}>Copy the address</Menu.Item>
          <Menu.Item onClick={() => setOpen(true)}>Show as curl</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="As curl" size="lg">
        <p className="mute small">
          With a client key whose scope is <code>reports</code>, or an admin token, in{" "}
          <code>TALLYGATE_KEY</code>.
        </p>
        <Code block mb="sm" className="foreign">
          {curlOf(query)}
        </Code>
        <CopyButton text={curlOf(query)} />
      </Modal>
    </>
  );
}
