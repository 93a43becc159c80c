import { Group } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { GithubAppView } from "#shared/admin/github-app.ts";
import type { SetupLink } from "#shared/admin/setup-link.ts";
import { getJson, postJson } from "../data/api.ts";
import { Act } from "../parts/act.tsx";
import { localMoment } from "../parts/dates.ts";
import { counted } from "../parts/format.ts";
import { Answered, Facts, Panel } from "../parts/page.tsx";
import { Moment } from "../parts/values.tsx";

/** While the page is open, the App queries GitHub again every few seconds. */
const GITHUB_APP = {
  queryKey: ["github-app"],
  queryFn: ({ signal }: { signal: AbortSignal }) => getJson<GithubAppView>("/admin/v1/github-app", signal),
  refetchInterval: 3_000,
} as const;

/** Whether deliveries arrive from somewhere: from an installed App, or from a plain webhook. */
export const isInstalled = ({ report, reached_at: reached }: GithubAppView): boolean =>
  report !== null && (report.app === null ? reached !== null : report.installations.length > 0);

/** What to do next about the App; nothing once it is installed. */
export function NextOfApp({ view }: { view: GithubAppView }) {
  const { running, report, address } = view;
  if (report === null || !running) {
    return (
      <p>
        The App is not running. <code>tallygate start</code> and the image run it beside the gateway; their
        log says why it ended.
      </p>
    );
  }
  if (isInstalled(view)) return null;
  if (report.app?.html_url) {
    return (
      <p>
        <a className="link" href={`${report.app.html_url}/installations/new`} target="_blank" rel="noopener">
          Install it on your repositories
        </a>
        . This page notices it by itself.
      </p>
    );
  }
  if (report.receives) {
    return (
      <p>
        Its settings come from the environment. Send webhooks to <code>{report.webhook_path}</code> at the
        App's address, or install the App on your repositories.
      </p>
    );
  }
  return report.can_register ? (
    <>
      <OpenEntry label="Create it on GitHub" />
      <p className="mute small">
        Opens the App at {address}. If your browser reaches it elsewhere, set GITHUB_APP_URL for the App.
      </p>
    </>
  ) : (
    <p>
      The App has no key to store credentials with: set <code>MASTER_KEY</code> for it, or{" "}
      <code>WEBHOOK_SECRET</code>, <code>APP_ID</code> and <code>PRIVATE_KEY</code>.
    </p>
  );
}

/** Opens the App's own entry by a link that works once: GitHub accepts a new App only from a form. */
const OpenEntry = ({ label, variant = "filled" }: { label: string; variant?: "filled" | "default" }) => (
  <Act variant={variant} act={openEntry}>
    {label}
  </Act>
);

async function openEntry(): Promise<void> {
  const { url } = await postJson<SetupLink>("/admin/v1/setup-links");
  window.open(url, "_blank", "noopener");
}

export const FaultsOfApp = ({ view }: { view: GithubAppView }) =>
  faultsOf(view).map((text) => (
    <p className="bad" key={text}>
      {text}
    </p>
  ));

function faultsOf({ report, refused }: GithubAppView): string[] {
  if (report === null) return [];
  const { missing, failed_deliveries: lost } = report;
  return [
    ...(report.fault === null ? [] : [report.fault]),
    ...(missing.length === 0
      ? []
      : [
          `The App lacks ${missing.join(", ")}, which the settings need. Add them to the App on GitHub; each account must then accept them.`,
        ]),
    ...report.installations
      .filter((it) => it.missing.length > 0)
      .map((it) => `${it.account} has not accepted ${it.missing.join(", ")}.`),
    ...(lost === null
      ? []
      : [
          `Of GitHub's last ${counted(lost.total, "delivery", "deliveries")} ${lost.failed} failed, the last one on ${localMoment(lost.at)}: ${lost.status === 0 ? "GitHub got no answer" : `the answer was ${lost.status}`}. They are requested again every ten minutes.`,
        ]),
    ...refused.map(
      ({ answer, at }) => `A delivery was refused on ${localMoment(at)}: ${REFUSED[answer] ?? answer}.`,
    ),
  ];
}

const REFUSED: Readonly<Record<string, string>> = {
  unsigned: "its signature is not that of the webhook secret",
  malformed: "it is not a webhook with a JSON body",
  unconfigured: "no webhook secret was known",
  too_large: "it is over 25 MiB",
  slow: "its body took over 10 seconds",
  unavailable: "it could not be stored",
};

/** The App's state, and changes to it. */
export function GithubAppPanel() {
  const query = useQuery(GITHUB_APP);
  return (
    <Panel title="The App" sub="It receives GitHub's webhooks and joins merged pull requests to their cost.">
      <Answered query={query}>
        {(view) => (
          <>
            <Facts
              of={{
                App: nameOf(view),
                "Last delivery": (
                  <Moment at={view.reached_at} unknown="GitHub has not reached the App yet." />
                ),
                "Installed on":
                  view.report?.installations.map(({ account }) => account).join(", ") || "no account yet",
              }}
            />
            <NextOfApp view={view} />
            <FaultsOfApp view={view} />
            {view.report?.app?.slug != null && <WebhookSecret report={view.report} />}
          </>
        )}
      </Answered>
    </Panel>
  );
}

const nameOf = ({ report }: GithubAppView): string => {
  if (report?.app) return report.app.slug ?? `number ${report.app.id}`;
  return report?.receives ? "receive-only: it does not call GitHub" : "not registered";
};

function WebhookSecret({ report }: { report: NonNullable<GithubAppView["report"]> }) {
  const { secret_pending: isPending, former_secret_until: until } = report;
  const change = useMutation({ mutationFn: () => postJson<null>("/admin/v1/github-app/webhook-secret") });
  return (
    <>
      <p className="mute" role="status">
        {isPending && "GitHub has not confirmed the new webhook secret; both are accepted. Change it again. "}
        {until !== null && `The former webhook secret is accepted until ${localMoment(until)}. `}
        {change.isSuccess && "The App changes the webhook secret within seconds, and refuses no delivery."}
      </p>
      <Group>
        <Act act={() => change.mutateAsync()}>Change the webhook secret</Act>
        <OpenEntry label="Replace the App" variant="default" />
      </Group>
    </>
  );
}
