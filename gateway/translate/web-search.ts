import { isJson, type Json, objectsIn, textIn } from "./exact-json.ts";
import { dropped, ignored, into, readObject } from "./members.ts";
import { type BodyPlace, type LocatedBody, lose } from "./place.ts";
import { type Prompt, type Tool, unnamedTool, type WebSearch } from "./prompt.ts";
import type { Citation, SearchBlock } from "./reply.ts";
import { UNREADABLE } from "./thoughts.ts";
import { listAt, located, numberAt, objectAt, textAt } from "./values.ts";

// The web search that a vendor runs: how each format declares it, and writes its results and what a text cites of them.

const NAME = "web_search";

/** The name by which a tool of this type is chosen; OpenAI's types have a date behind them. */
export const choosable = (type: string): string => (type.startsWith(NAME) ? NAME : type);

export const mustSearch = ({ search, toolChoice }: Prompt): boolean =>
  search !== null && toolChoice?.value.kind === "tool" && toolChoice.value.name === NAME;

const textsAt = (value: unknown, at: BodyPlace): string[] =>
  listAt(value, at).map((one, index) => textAt(one, at.item(index)));

/** A search as a tool of the prompt, until it is known whether the provider searches (`takeSearch`). */
export const searchTool = (search: LocatedBody): Tool[] => [{ ...unnamedTool(), name: NAME, search }];

function searchOf({ object, at }: LocatedBody): WebSearch {
  const search: WebSearch = { allowed: [], blocked: [], location: null, maxUses: null, at };
  const allowed = into(search, "allowed", textsAt);
  const blocked = into(search, "blocked", textsAt);
  readObject(object, at, {
    type: ignored,
    name: ignored,
    cache_control: ignored,
    allowed_domains: allowed,
    blocked_domains: blocked,
    excludeDomains: blocked,
    filters: (value, place) =>
      readObject(value, place, { allowed_domains: allowed, blocked_domains: blocked }),
    max_uses: into(search, "maxUses", located(numberAt)),
    user_location: (value, place) => {
      const given = objectAt(value, place);
      search.location = isJson(given["approximate"])
        ? { type: "approximate", ...given["approximate"] }
        : given;
    },
    external_web_access: ignored,
    // How much it reads.
    search_context_size: dropped,
    search_content_types: dropped,
    return_token_budget: dropped,
    allowed_callers: dropped,
    response_inclusion: dropped,
    timeRangeFilter: (_, place) => lose(place),
  });
  return search;
}

/** Takes the search out of the prompt's tools: kept as a wish where possible, else left out, or refused if alone. */
export function takeSearch(prompt: Prompt, searches: boolean): void {
  const search = prompt.tools.find((tool) => tool.search)?.search;
  if (!search) return;
  prompt.tools = prompt.tools.filter((tool) => !tool.search);
  const { object, at } = search;
  const type = textIn(object, "type");
  // Codex asks for pages that OpenAI has already read, and for no access to the web.
  const isLive = object["external_web_access"] !== false;
  if (searches && isLive && prompt.tools.every(({ name }) => name !== NAME)) prompt.search = searchOf(search);
  else if (prompt.tools.length > 0) at.drop();
  else lose(type === null ? at : at.member("type"), `the tool \`${type ?? NAME}\` is run by its vendor`);
}

const domains = ({ allowed, blocked }: WebSearch): Json => ({
  ...(allowed.length > 0 ? { allowed_domains: allowed } : {}),
  ...(blocked.length > 0 ? { blocked_domains: blocked } : {}),
});

/** The search as Anthropic declares it. */
export const messagesSearch = (search: WebSearch): object => ({
  type: "web_search_20250305",
  name: NAME,
  ...domains(search),
  ...(search.location ? { user_location: search.location } : {}),
  ...(search.maxUses ? { max_uses: search.maxUses.value } : {}),
});

/** The search as OpenAI declares it. */
export function responsesSearch(search: WebSearch): object {
  search.maxUses?.at.drop();
  const filters = domains(search);
  return {
    type: NAME,
    ...(Object.keys(filters).length > 0 ? { filters } : {}),
    ...(search.location ? { user_location: search.location } : {}),
  };
}

/** Google's has no domains to keep to, and its model decides whether it searches. */
export function geminiSearch(search: WebSearch, choice: Prompt["toolChoice"]): object {
  if (choice?.value.kind === "any" || choice?.value.kind === "tool")
    lose(choice.at, "a search by Google cannot be demanded");
  if (search.allowed.length + search.blocked.length > 0) lose(search.at, "a search by Google has no domains");
  search.maxUses?.at.drop();
  if (search.location) search.at.drop();
  return { googleSearch: {} };
}

/** What a vendor found, from a list of `{url, title}`. */
export const sourcesIn = (holder: Json | null, name: string): SearchBlock["sources"] =>
  objectsIn(holder, name).flatMap((one) => {
    const url = textIn(one, "url") ?? textIn(one, "uri");
    return url === null ? [] : [{ url, title: textIn(one, "title") ?? "" }];
  });

/** A citation of a text in OpenAI's format; null for one of anything but the web. */
export function urlCitation(annotation: Json): Citation | null {
  const url = textIn(annotation, "url");
  if (annotation["type"] !== "url_citation" || url === null) return null;
  const [start, end] = [annotation["start_index"], annotation["end_index"]];
  const place = typeof start === "number" && typeof end === "number" ? { start, end } : null;
  return { url, title: textIn(annotation, "title") ?? "", quote: null, place };
}

/** The same written: places count from the beginning of the text, which is `offset` into the message. */
export const writtenUrlCitation = ({ url, title, place }: Citation, text: string, offset = 0): object => ({
  url,
  title,
  start_index: offset + (place?.start ?? 0),
  end_index: offset + (place?.end ?? text.length),
});

/** A citation of Anthropic's, which is of the whole text that has it; null for one of anything but the web. */
export function messagesCitation(citation: Json): Citation | null {
  const url = textIn(citation, "url");
  if (citation["type"] !== "web_search_result_location" || url === null) return null;
  return { url, title: textIn(citation, "title") ?? "", quote: textIn(citation, "cited_text"), place: null };
}

export const writtenMessagesCitation = ({ url, title, quote, place }: Citation, text: string): object => ({
  type: "web_search_result_location",
  url,
  title,
  cited_text: quote ?? (place ? text.slice(place.start, place.end) : text),
  encrypted_index: UNREADABLE,
});

/** A search as the two blocks of Anthropic's format. */
export const messagesSearchBlocks = ({ id, query, sources }: SearchBlock): [object, object] => [
  { type: "server_tool_use", id, name: NAME, input: { query }, caller: { type: "direct" } },
  {
    type: "web_search_tool_result",
    tool_use_id: id,
    content: sources.map(({ url, title }) => ({
      type: "web_search_result",
      url,
      title,
      encrypted_content: UNREADABLE,
      page_age: null,
    })),
    caller: { type: "direct" },
  },
];

export const searchItem = ({ query, sources }: SearchBlock): Json => ({
  type: "web_search_call",
  status: "completed",
  action: {
    type: "search",
    query,
    queries: [query],
    sources: sources.map(({ url }) => ({ type: "url", url })),
  },
});
