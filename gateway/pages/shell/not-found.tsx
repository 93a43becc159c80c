import { Link } from "@tanstack/react-router";
import { PageHead } from "../parts/page-head.tsx";
import { EmptyPanel } from "../parts/states.tsx";

export const NotFound = () => (
  <>
    <PageHead title="Not found" />
    <EmptyPanel
      title="There is no page at this address"
      next={
        <Link to="/" className="link">
          Go to the start
        </Link>
      }
    >
      The address may be mistyped, or the page may have moved. Search finds pages by name.
    </EmptyPanel>
  </>
);
