import type { CoverageWindow } from "#shared/coverage.ts";
import type { AppStatus } from "./app-status.ts";
import { type Html, html, page, table, timeText } from "./html.ts";

type StatusView = {
  status: AppStatus;
  /** Authorises the page's forms; null: nothing can be changed here. */
  state: string | null;
  /** The form that makes an App; null: none can be made here. */
  make: Html | null;
  /** Where the gateway shows its reports. */
  reportsUrl: string;
};

/** The App's state, for administrators: four steps, and then what the App sees. */
export function statusPage(view: StatusView): Response {
  const { status, state } = view;
  const steps = stepsOf(status);
  const isComplete = steps.every(({ done }) => done);
  const waits = steps.some(({ name, current }) => current && WAITING.includes(name));
  const content = html`${
    isComplete
      ? html`<p>Everything is set up. <a href="${view.reportsUrl}">See the reports</a>, or run <code>tallygate report cost-per-merged-pr</code>.</p>`
      : html`<p>Four steps from nothing to the cost of a merged pull request. Each ticks itself.</p>`
  }
<ol class="steps">${steps.map((step) => stepItem(step, view))}</ol>
${warnings(status)}
${status.receives && webhookSecret(status, state)}
${status.receives && tables(status)}`;
  return page(content, { againSeconds: waits ? AGAIN_SECONDS : 0 });
}

/** Steps that are done on GitHub, not on this page. */
const WAITING: readonly StepName[] = ["reachable", "installed"];
const AGAIN_SECONDS = 10;

const TITLE: Record<StepName, string> = {
  reachable: "GitHub reaches this server",
  made: "The App is made",
  installed: "It is installed",
  measuring: "Measuring",
};

const stepItem = (
  step: Step,
  view: StatusView,
): Html => html`<li class="${step.done ? "done" : step.current ? "current" : ""}">
<span class="mark" aria-hidden="true">${step.done ? "✓" : step.current ? "→" : "○"}</span>
<div><strong>${TITLE[step.name]}</strong> <span class="mute">${step.done ? "done" : step.current ? "next" : "to do"}</span>${DETAIL[step.name](view, step)}</div>
</li>`;

const DETAIL: Record<StepName, (view: StatusView, step: Step) => unknown> = {
  reachable: ({ status: { reachedAt, receives } }) =>
    reachedAt !== null
      ? html`<p>The last delivery arrived on ${timeText(reachedAt)}.</p>`
      : receives
        ? html`<p>No delivery has arrived yet. GitHub sends a ping when the App is made, and a delivery when it is installed. If none comes, check the App's webhook URL.</p>`
        : html`<p>This ticks when GitHub's first delivery arrives.</p>`,
  made: ({ status: { app, registration, receives }, make }) =>
    app !== null
      ? html`<p>It is the GitHub App <strong>${registration?.slug ?? app}</strong>.</p>`
      : receives
        ? html`<p>Webhooks are received. The App is receive-only: it does not call GitHub.</p>`
        : make,
  installed: ({ status: { installUrl, installations } }, { done }) =>
    html`${done && installations.length > 0 && html`<p>For ${installations.map(({ account }) => account).join(", ")}.</p>`}
${installUrl !== null && html`<p><a href="${installUrl}">${done ? "Change the repositories" : "Choose the repositories on which it is installed"}</a></p>`}`,
  measuring: ({ status, state }, { done, current }) => {
    if (done) {
      const merged = status.repositories.reduce((sum, it) => sum + it.merged, 0);
      const joined = status.repositories.reduce((sum, it) => sum + it.joined, 0);
      return html`<p>${merged} merged pull requests are known; ${joined} of them have a session.</p>`;
    }
    if (!current || state === null) {
      return html`<p>Then deliveries are stored, and merged pull requests get their cost. Until then nothing is stored.</p>`;
    }
    return html`<p>From now on deliveries are stored, and past pull requests are read. No text of a pull request is kept.</p>
<form action="/setup/measure" method="post">
<input type="hidden" name="state" value="${state}">
<button>Start measuring</button>
</form>`;
  },
};

/** Only for an App that was registered here. */
const webhookSecret = ({ registered }: AppStatus, state: string | null) =>
  registered !== null &&
  state !== null &&
  html`<h2>Webhook secret</h2>${
    registered.secretPending &&
    html`<p class="fault">GitHub has not confirmed the new webhook secret. Both secrets are accepted. Change it again to complete the change.</p>`
  }
<p>${
    registered.formerSecretUntil === null
      ? "A change takes a few seconds, and no delivery is refused."
      : html`It was changed; the former one is accepted until ${timeText(registered.formerSecretUntil)}.`
  }</p>
<form action="/setup/secret" method="post">
<input type="hidden" name="state" value="${state}">
<p><button class="quiet">Change the webhook secret</button></p>
</form>
<p><a href="/setup/new">Replace the App by a new one</a></p>`;

const warnings = ({ registration: known, registrationFault, recent, refused }: AppStatus) =>
  html`${registrationFault !== null && html`<p class="fault">${registrationFault}</p>`}${
    known !== null &&
    known.missingPermissions.length + known.missingEvents.length > 0 &&
    html`<p class="fault">The App lacks permissions or events that the settings need. Missing: ${[...known.missingPermissions, ...known.missingEvents].join(", ")}. Add them to the App on GitHub; each account must then accept them.</p>`
  }${
    recent !== null &&
    recent.lastFailure !== null &&
    html`<p class="fault">Of GitHub's last ${recent.total} deliveries ${recent.failed} failed, the last one on ${timeText(recent.lastFailure.at)}: ${failureText(recent.lastFailure.status)}. Failed deliveries are requested again every ten minutes.</p>`
  }${refused.map(({ answer, at }) => html`<p class="fault">A delivery was refused on ${timeText(at)}: ${REFUSED[answer] ?? answer}.</p>`)}`;

const failureText = (status: number): string =>
  status === 0 ? "GitHub could not connect, or got no answer in time" : `the answer was ${status}`;

const REFUSED: Record<string, string> = {
  unsigned: "its signature is not that of the webhook secret",
  malformed: "it is not a webhook with a JSON body",
  unconfigured: "no webhook secret was known",
  too_large: "it is over 25 MiB",
  slow: "its body took over 10 seconds",
  unavailable: "it could not be stored",
};

const tables = ({
  installations,
  repositories,
  more,
  pending,
  stamping,
}: AppStatus) => html`<h2>Installations</h2>
${
  installations.length === 0
    ? html`<p>The App is not installed yet${!stamping && ", or not measuring"}.</p>`
    : table(
        ["Account", "State", "Since", "Not accepted yet"],
        installations.map((it) => [
          it.account,
          it.state,
          timeText(it.changedAt),
          it.missing.join(", ") || "–",
        ]),
      )
}
<h2>Repositories</h2>
${
  repositories.length === 0
    ? html`<p>The App covers no repository yet.</p>`
    : table(
        ["Repository", "Covered", "Pull requests", "Merged", "Joined", "Read"],
        repositories.map((it) => [
          it.fullName,
          html`${it.covered ? "now" : "no longer"}${it.windows.map((one) => html`<br>${windowText(one)}`)}`,
          it.pullRequests,
          it.merged,
          it.joined,
          passText(it.pass),
        ]),
      )
}
${more && html`<p>The gateway lists all repositories at <code>GET /admin/v1/repositories</code>.</p>`}
<p class="mute">${pending} deliveries are waiting.</p>`;

const windowText = ({ from, until, end }: CoverageWindow): Html =>
  until === null ? html`since ${timeText(from)}` : html`${timeText(from)} to ${timeText(until)} (${end})`;

function passText(pass: AppStatus["repositories"][number]["pass"]): unknown {
  if (pass === null) return "not read";
  if (pass.failure !== null) return `failed: ${pass.failure}`;
  if (pass.phase !== "idle") return `${pass.pulls} pull requests, ${pass.reviews} reviews so far`;
  if (pass.readUpTo !== null) return html`read up to ${timeText(pass.readUpTo)}`;
  return pass.finishedAt === null ? "waiting" : "read, none found";
}

type StepName = "reachable" | "made" | "installed" | "measuring";
/** One of the four steps from nothing to figures; it ticks itself as soon as it is true. */
type Step = { name: StepName; done: boolean; current: boolean };

type Facts = Pick<AppStatus, "app" | "receives" | "reachedAt" | "stamping" | "installations">;

/** Prerequisites of each step: an App can only be reached once it is made. */
const ORDER: readonly StepName[] = ["made", "reachable", "installed", "measuring"];
const SHOWN: readonly StepName[] = ["reachable", "made", "installed", "measuring"];

/** The four steps; the first that is not done is the current one. */
function stepsOf({ app, receives, reachedAt, installations, stamping }: Facts): Step[] {
  const done: Record<StepName, boolean> = {
    reachable: reachedAt !== null,
    made: app !== null || receives,
    // A webhook without an App is installed where it was made.
    installed: installations.some(({ state }) => state === "active") || (app === null && reachedAt !== null),
    measuring: stamping,
  };
  const current = ORDER.find((name) => !done[name]);
  return SHOWN.map((name) => ({ name, done: done[name], current: name === current }));
}
