import { Link } from "@tanstack/react-router";
import { CopyId, ShortId } from "../parts/short-id.tsx";
import { Unknown } from "../parts/values.tsx";

type SessionLinkProps = { session: string | null; none?: string };

/** A session's short id, linked to its page, with a button that copies the whole id. */
export const SessionLink = ({ session, none = "The client sent no session." }: SessionLinkProps) =>
  session === null ? (
    <Unknown reason={none} />
  ) : (
    <span className="nowrap">
      <Link to="/sessions/$session" params={{ session }} className="value-link">
        <ShortId id={session} />
      </Link>
      <CopyId id={session} what="session's id" />
    </span>
  );
