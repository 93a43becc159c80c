import { Link } from "@tanstack/react-router";
import { PageHead } from "../parts/page-head.tsx";
import { Empty } from "../parts/states.tsx";

export const NotFound = () => (
  <div className="content">
    <PageHead title="Not found" />
    <Empty title="There is no page at this address" next={<Link to="/">Go to the start</Link>}>
      The address may be mistyped, or the page may have moved.
    </Empty>
  </div>
);
