import type { CoverageWindow } from "#shared/coverage.ts";
import type { AppStatus } from "./app-status.ts";
import { html, page } from "./html.ts";

/** Step 1: what GitHub cannot know. */
export const askPage = (given: { url: string; organization: string }, fault: string | null): Response =>
  page(
    html`<p>GitHub makes an App of a prepared form, and this server keeps its credentials, sealed under the master key.</p>
${fault !== null && html`<p class="fault">${fault}</p>`}
<form action="/setup/new" method="get">
<label>Address at which GitHub reaches this server
<input name="url" type="url" required value="${given.url}" placeholder="https://tallygate.example.com"></label>
<label>Organisation that is to own the App (empty: your own account)
<input name="organization" value="${given.organization}" autocomplete="off"></label>
<button>Go on</button>
</form>`,
    { status: fault === null ? 200 : 400 },
  );

/** Step 2: the form that goes to GitHub. */
export const confirmPage = (
  action: string,
  manifest: { default_permissions: Record<string, string>; hook_attributes: { url: string } },
): Response =>
  page(
    html`<p>GitHub will ask you to confirm an App that</p>
<ul>
<li>may ${Object.entries(manifest.default_permissions).map(([name, access], index) => html`${index > 0 && ", "}<strong>${access}</strong> ${name.replaceAll("_", " ")}`)} of the repositories that you install it on, and nothing else;</li>
<li>sends its webhooks to <code>${manifest.hook_attributes.url}</code>.</li>
</ul>
<form action="${action}" method="post">
<input type="hidden" name="manifest" value="${JSON.stringify(manifest)}">
<button>Go to GitHub</button>
</form>
<p>All steps have to be done within one hour.</p>`,
    { formTarget: new URL(action).origin },
  );

export const faultPage = (fault: string, status: number): Response =>
  page(html`<p class="fault">${fault}</p><p><a href="/setup">Begin again</a></p>`, { status });

/** What the App sees, for administrators. `state` lets its forms through; null: nothing can be changed here. */
export const statusPage = (status: AppStatus, state: string | null): Response =>
  page(html`${registration(status)}${warnings(status)}${webhookSecret(status, state)}
<h2>Installations</h2>
${
  status.installations.length === 0
    ? html`<p>It is installed nowhere yet.</p>`
    : table(
        ["Account", "State", "Since"],
        status.installations.map((it) => [it.account, it.state, it.changedAt]),
      )
}
<h2>Repositories</h2>
${
  status.repositories.length === 0
    ? html`<p>It sees none yet.</p>`
    : table(
        ["Repository", "Seen", "Pull requests", "Merged", "Joined", "Reading"],
        status.repositories.map((it) => [
          it.fullName,
          html`${it.covered ? "now" : "no longer"}${it.windows.map((one) => html`<br>${windowText(one)}`)}`,
          it.pullRequests,
          it.merged,
          it.joined,
          passText(it.pass),
        ]),
      )
}
${status.more && html`<p>More repositories are listed by <code>GET /admin/v1/repositories</code> of the gateway.</p>`}
<p>${status.pending} deliveries wait to be applied. The last one came ${status.lastDeliveryAt ?? "never"}.</p>`);

const registration = ({ app, registration: known, installUrl }: AppStatus) => html`<p>${
  app === null
    ? "The App is receive-only: it asks GitHub nothing."
    : html`It acts as GitHub App <strong>${known?.slug ?? app}</strong>.`
}</p>
${installUrl !== null && html`<p><a href="${installUrl}">Install it on repositories, or change which.</a></p>`}`;

/** Only of an App that the set-up page made. */
const webhookSecret = ({ registered }: AppStatus, state: string | null) =>
  registered !== null &&
  state !== null &&
  html`${
    registered.secretPending &&
    html`<p class="fault">GitHub has not confirmed the new webhook secret. Both are accepted; change it again to go on.</p>`
  }
<form action="/setup/secret" method="post">
<input type="hidden" name="state" value="${state}">
<p><button>Change the webhook secret</button> ${
    registered.formerSecretUntil === null
      ? "It takes some seconds, and no delivery is refused."
      : `It was changed; the former one is accepted until ${registered.formerSecretUntil}.`
  }</p>
</form>`;

const warnings = ({ stamping, registration: known, registrationFault }: AppStatus) =>
  html`${
    !stamping &&
    html`<p class="fault">The setting <code>pull_request_stamping</code> is off, so nothing is stored. Switch it on in the gateway's settings.</p>`
  }${registrationFault !== null && html`<p class="fault">${registrationFault}</p>`}${
    known !== null &&
    known.missingPermissions.length + known.missingEvents.length > 0 &&
    html`<p class="fault">GitHub does not grant all that is switched on. Missing: ${[...known.missingPermissions, ...known.missingEvents].join(", ")}.</p>`
  }`;

const table = (heads: string[], rows: unknown[][]) => html`<table>
<thead><tr>${heads.map((head) => html`<th>${head}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table>`;

const windowText = ({ from, until, end }: CoverageWindow): string =>
  until === null ? `since ${from}` : `${from} to ${until} (${end})`;

function passText(pass: AppStatus["repositories"][number]["pass"]): string {
  if (pass === null) return "not read";
  if (pass.failure !== null) return `held up: ${pass.failure}`;
  if (pass.phase !== "idle") return `${pass.pulls} pull requests, ${pass.reviews} reviews so far`;
  if (pass.readUpTo !== null) return `read up to ${pass.readUpTo}`;
  return pass.finishedAt === null ? "waiting" : "read, none found";
}
