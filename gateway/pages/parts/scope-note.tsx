import type { QueryAnswer } from "#shared/report-query.ts";
import { useMe } from "../data/me.ts";
import { Foreign } from "./values.tsx";

const Limited = ({ team }: { team: string }) => (
  <p className="note" role="note">
    You see the team{" "}
    <b>
      <Foreign text={team} />
    </b>{" "}
    and the teams below it.
  </p>
);

/** Says what an answer's figures cover, where it is not everything. */
export const AnswerNote = ({ answer }: { answer: Pick<QueryAnswer, "scope" | "complete"> | undefined }) => (
  <>
    {answer?.scope && <Limited team={answer.scope.team} />}
    {answer?.complete === false && (
      <p className="note" role="note">
        The latest calls may be missing: they could not be stored or copied in time.
      </p>
    )}
  </>
);

/** The same of a list of records. */
export function ListNote() {
  const { role, team } = useMe();
  return role === "manager" && team !== null ? <Limited team={team} /> : null;
}
