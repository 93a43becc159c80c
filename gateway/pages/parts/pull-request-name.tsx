import { Link } from "@tanstack/react-router";

type PullRequestNameProps = {
  repository: string | null;
  number: number;
  /** Within its repository. */
  isShort?: boolean;
};

export function PullRequestName({ repository, number, isShort = false }: PullRequestNameProps) {
  const [owner = "", repo = ""] = repository?.split("/") ?? [];
  if (repo === "") return <>#{number}</>;
  return (
    <Link
      to="/pull-requests/$owner/$repo/$n"
      params={{ owner, repo, n: String(number) }}
      className={isShort ? "link" : "row-link"}
    >
      {isShort ? (
        `#${number}`
      ) : (
        <b>
          <bdi>{repo}</bdi> #{number}
        </b>
      )}
    </Link>
  );
}
