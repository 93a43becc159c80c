import { oneText } from "./search.ts";

export type ListSearch<Name extends string = string> = Readonly<Partial<Record<Name, string>>>;

/** Reads the filters that a list has; what else the address names is not its own. */
export const listSearch =
  <Name extends string>(names: readonly Name[]) =>
  (raw: Record<string, unknown>): ListSearch<Name> => {
    const found = names.flatMap((name) => {
      const value = oneText(raw[name]);
      return value === undefined ? [] : [[name, value]];
    });
    return Object.fromEntries(found);
  };

/** The filters of each list, and their words. */
export const REQUEST_FILTERS = {
  from: "From",
  to: "To",
  model: "Model",
  client: "Client",
  owner: "Person",
  team: "Team",
  direct_team: "Team alone",
  cost_center: "Cost centre",
  user: "User label",
  key: "Key",
  route: "Route",
  session: "Session",
  tag: "Tag",
  provider: "Provider",
  channel: "Channel",
  surface: "Surface",
  state: "State",
  status: "Status",
  error_type: "Error",
  error_cause: "Cause",
  guardrail: "Guardrail",
  provider_request_id: "Provider's request id",
} as const;

export const TOOL_CALL_FILTERS = {
  from: "From",
  to: "To",
  server: "Server",
  tool: "Tool",
  status: "Status",
  channel: "Channel",
  client: "Client",
  owner: "Person",
  team: "Team",
  key: "Key",
  session: "Session",
} as const;

export const PULL_REQUEST_FILTERS = {
  from: "From",
  to: "To",
  repository: "Repository",
  author: "Author",
  team: "Team",
  min_cost: "Cost from, USD",
  state: "State",
  link: "Link",
  session: "Session",
  number: "Number",
} as const;

export const AUDIT_FILTERS = { actor: "Who", action: "What", subject: "On", from: "From", to: "To" } as const;
