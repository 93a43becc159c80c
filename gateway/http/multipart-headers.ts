import { words } from "#shared/words.ts";
import { GatewayError } from "../errors.ts";
import { isUtf8Type } from "./content-type.ts";

export type PartHead = {
  name: string;
  /** Media for the provider: a file in one of `MEDIA_FIELDS`, or of a type that no text has. */
  isFile: boolean;
  /** A text field without a file name. */
  isPlain: boolean;
  filename: string | null;
};

/** The fields of vendors' forms that take media. A file in any other field may be text for a model. */
const MEDIA_FIELDS = new Set<string>(
  words("audio file image image[] input_reference mask reference_image video"),
);

const refused = (sentence: string) => new GatewayError("invalid_request", `The multipart body: ${sentence}`);

const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/s;
const PARAMETER = /^[ \t]*;[ \t]*([!#$%&'+.^_`|~0-9A-Za-z*-]+)=(?:"([^"]*)"|([^\s;"]+))/;

/**
 * Parses a part's head, without its blank line. Anything ambiguous is refused: a part that the gateway and the provider
 * read differently could bypass a key's scopes.
 * @throws GatewayError invalid_request, without quoting the head.
 */
export function readPartHead(bytes: Uint8Array): PartHead {
  const headers = headersOf(new TextDecoder().decode(bytes));
  const parameters = parametersOf(headers.get("content-disposition"));
  const name = parameters.get("name");
  if (name === undefined) throw refused("every part needs a `name`.");
  const filename = parameters.get("filename") ?? null;
  const hasFilename = filename !== null || parameters.has("filename*");
  const type = headers.get("content-type");
  requirePlainBytes(type, headers.get("content-transfer-encoding"));
  const isFile = (hasFilename && MEDIA_FIELDS.has(name)) || !isText(type);
  return { name, filename, isFile, isPlain: !isFile && !hasFilename };
}

const isText = (type: string | undefined): boolean =>
  type === undefined || /^(?:text\/\S+|application\/json)(?:\s*;|$)/i.test(type);

/** A text that is encoded would be read by some providers as it is and by others decoded. */
function requirePlainBytes(type: string | undefined, encoding: string | undefined): void {
  if (encoding !== undefined && !/^(?:binary|[78]bit)$/i.test(encoding)) {
    throw refused("a part has a transfer encoding.");
  }
  if (!isUtf8Type(type ?? null)) throw refused("a part has another charset than UTF-8.");
}

function headersOf(text: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined || /[\r\n\0]/.test(line)) {
      throw refused("the head of a part cannot be read.");
    }
    const lower = name.toLowerCase();
    if (headers.has(lower)) throw refused("a part repeats a header.");
    headers.set(lower, value);
  }
  return headers;
}

function parametersOf(disposition: string | undefined): Map<string, string> {
  const [type = ""] = disposition?.split(";", 1) ?? [];
  if (type.trim().toLowerCase() !== "form-data") throw refused("a part is not `form-data`.");
  // Some parsers read the backslash as an escape, some literally.
  if (disposition?.includes('\\"')) throw refused("a quotation mark is escaped by a backslash.");
  const parameters = new Map<string, string>();
  let rest = disposition?.slice(type.length).trimEnd() ?? "";
  while (rest !== "") {
    const match = PARAMETER.exec(rest);
    const [whole, name = "", quoted, plain] = match ?? [];
    if (whole === undefined) throw refused("the head of a part cannot be read.");
    addParameter(parameters, name.toLowerCase(), quoted ?? plain ?? "");
    rest = rest.slice(whole.length);
  }
  return parameters;
}

function addParameter(parameters: Map<string, string>, name: string, value: string): void {
  if (name === "name*") throw refused("`name*` is not accepted. Use `name`.");
  if (parameters.has(name)) throw refused("a part repeats a parameter.");
  if (name === "name" && value.includes("\\")) throw refused("a name holds a backslash.");
  parameters.set(name, value);
}
