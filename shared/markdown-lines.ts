/** Longest pull-request or review body that is read, in Unicode code points; GitHub's own limit. */
export const BODY_CHARACTERS_MAX = 65_536;

/**
 * A line of a GitHub body, and where it stands. `code` is fenced or indented by four columns; `comment` is an HTML
 * comment. Only `text` lines say something in their author's name.
 */
export type MarkdownLine = { text: string; place: "text" | "code" | "comment" | "quote" };

/** An open code fence. `column` is where the content of the list item stands that holds it, 0 outside lists. */
type Fence = { mark: string; length: number; column: number };

/** An open HTML comment: one that began a line runs to its end mark, one inside a paragraph at most to a blank line. */
type Comment = "block" | "inline";

type Place = {
  fence: Fence | null;
  comment: Comment | null;
  /** Columns where the content of the open list items stands, outermost first. */
  items: number[];
  /** Whether the line before can be a paragraph's, which a line that begins no block continues. */
  afterText: boolean;
};

const LINE_END = /\r\n|\n|\r/;
const BLANK = /^[ \t]*$/;
const QUOTE = /^ {0,3}>/;
const INDENTED = /^(?: {4}| {0,3}\t)/;
const FENCE = /^(`{3,}|~{3,})(.*)$/s;
const MARKER = /^(?:[-*+]|\d{1,9}[.)])(?= |$)/;
/** Of list items, only these interrupt a paragraph. */
const INTERRUPTING = /^(?:[-*+]|1[.)]) +\S/;
const BREAK = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const BLOCK = /^ *(?:[>#`~<]|(?:[-*+]|\d{1,9}[.)])(?: |$))/;
const FENCE_END = /^ *(`{3,}|~{3,})[ \t]*$/;
const COMMENT_FIRST = /^ {0,3}<!--/;
const CODE_SPAN = /`[^`]*`/g;

/**
 * The lines of `body` in order, in time linear in its length. A body over `BODY_CHARACTERS_MAX` is read up to its last
 * whole line within that length: a line is never cut.
 */
export function* markdownLines(body: string): Generator<MarkdownLine> {
  const place: Place = { fence: null, comment: null, items: [], afterText: false };
  for (const text of wholeLines(body).split(LINE_END)) {
    const at = placeOf(text, place);
    place.afterText = at === "text" && !BLANK.test(text);
    yield { text, place: at };
  }
}

/** Whether `markdownLines` leaves out the end of `body`. */
export const isOverlong = (body: string): boolean => unitsOfLimit(body) < body.length;

function wholeLines(body: string): string {
  const units = unitsOfLimit(body);
  if (units === body.length || body[units] === "\n" || body[units] === "\r") return body.slice(0, units);
  const head = body.slice(0, units);
  return head.slice(0, Math.max(head.lastIndexOf("\n"), head.lastIndexOf("\r")) + 1);
}

/** UTF-16 code units that the first `BODY_CHARACTERS_MAX` code points take. */
function unitsOfLimit(body: string): number {
  if (body.length <= BODY_CHARACTERS_MAX) return body.length;
  let units = 0;
  for (let read = 0; read < BODY_CHARACTERS_MAX && units < body.length; read++) {
    units += (body.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return units;
}

function placeOf(text: string, now: Place): MarkdownLine["place"] {
  if (now.fence && staysFenced(text, now.fence)) {
    if (endsFence(text, now.fence)) now.fence = null;
    return "code";
  }
  now.fence = null;
  if (now.comment === "inline" && BLANK.test(text)) now.comment = null;
  if (now.comment) {
    const end = text.indexOf("-->");
    if (end >= 0) now.comment = commentLeftOpen(text.slice(end + 3));
    return "comment";
  }
  const at = BLANK.test(text) ? 0 : contentOf(text, now);
  if (QUOTE.test(text)) return "quote";
  if (INDENTED.test(text)) return "code";
  now.fence = fenceOf(text.slice(at), now.items.at(-1) ?? 0);
  if (now.fence) return "code";
  now.comment = commentLeftOpen(text);
  return COMMENT_FIRST.test(text) ? "comment" : "text";
}

/** A fence in a list item ends with the item, which is where a line stands further left than the item's content. */
const staysFenced = (text: string, fence: Fence): boolean =>
  fence.column === 0 || BLANK.test(text) || text.search(/[^ ]/) >= fence.column;

function endsFence(text: string, fence: Fence): boolean {
  const mark = FENCE_END.exec(text)?.[1];
  if (mark === undefined) return false;
  const indent = text.search(/[^ ]/) - fence.column;
  return indent <= 3 && mark.startsWith(fence.mark) && mark.length >= fence.length;
}

function fenceOf(content: string, column: number): Fence | null {
  const [, mark = "", info = ""] = FENCE.exec(content) ?? [];
  if (mark === "" || (mark.startsWith("`") && info.includes("`"))) return null;
  return { mark: mark.charAt(0), length: mark.length, column };
}

/** Closes and opens the list items that a line leaves and begins. @returns where the line's own content stands. */
function contentOf(text: string, now: Place): number {
  let at = text.search(/[^ ]/);
  if (!now.afterText || BLOCK.test(text)) now.items = now.items.filter((column) => column <= at);
  while (!BREAK.test(text) && at - (now.items.at(-1) ?? 0) <= 3) {
    const content = text.slice(at);
    const marker = MARKER.exec(content)?.[0];
    if (marker === undefined) break;
    if (now.afterText && now.items.length === 0 && !INTERRUPTING.test(content)) break;
    const blanks = content.slice(marker.length).search(/[^ ]|$/);
    at += marker.length + (blanks >= 1 && blanks <= 4 ? blanks : 1);
    now.items.push(at);
  }
  return at;
}

function commentLeftOpen(text: string): Comment | null {
  const first = COMMENT_FIRST.test(text);
  // In a code span the mark is quoted, not used.
  const plain = first ? text : text.replace(CODE_SPAN, "");
  for (let open = plain.indexOf("<!--"), count = 0; open >= 0; count++) {
    // `<!-->` and `<!--->` are whole comments.
    const end = plain.indexOf("-->", open + 2);
    if (end < 0) return first && count === 0 ? "block" : "inline";
    open = plain.indexOf("<!--", end + 3);
  }
  return null;
}
