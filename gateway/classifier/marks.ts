/** Marks of a text's shape, each seen or not. Read from the clipped text before it is normalised. */
const MARKS = {
  "code fence": /```|~~~/,
  "code-like line":
    /^\s*(?:(?:def|class|function|public|private|static|const|let|var|async)\s+\w+.*[({:;=]\s*\S*$|(?:import|from)\s+[\w.{},* ]+\s+(?:import|from)\b|import\s+[\w.]+;?$|return\b[^.]*;?$|(?:if|for|while)\s*\(.+\)|(?:if|for|while)\s[^.]+:$|#include|<\/?[a-z]+[^>]*>|(?:SELECT|INSERT|UPDATE|CREATE)\s.+(?:FROM|INTO|SET|TABLE)\b|[\w.]+\([^()]*\);?$|[}\])]+;$)/m,
  "inline code": /`[^`\n]+`|\b\w+\(\)|\b[a-z]+_[a-z]+\b|\b\w+\.(?:py|js|ts|java|cpp|go|rs|sql|sh|html|css)\b/,
  formula:
    /\d\s*[=+*^×÷]\s*[\da-z(]|\d\s*\/\s*\d|\b[a-z]\s*[=+^]\s*[\da-z(-]|\\(?:frac|sqrt|int|sum)|(?-i:[√∑∫π≤≥])/i,
  address: /https?:\/\/|www\./,
  "many digits": /(?:\d[^\d]{0,12}){8}/,
  "question mark": /[?？¿؟]/,
  "ends with a question": /[?？؟]\s*["'”’)]?\s*$/,
  "not Latin": /[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/,
  "quoted text": /["“”«»「」„].{12,}["“”«»「」]/s,
  "list of lines": /(?:^[^\S\n]*(?:[-*•]|\d+[.)、])\s+.*\n*){2}/m,
  "choices to pick from": /(?:^|[\s(（])A\s*[.)、:：）][\s\S]{1,300}?(?:^|[\s(（])B\s*[.)、:：）]/m,
  // Three letters are enough: to try every length of a long run of them would take time that grows with its square.
  "two scripts":
    /[a-z]{3}[^a-z]{0,40}[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{3}|[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{3}.{0,20}[a-z]{3,}\s+[a-z]/i,
  "very short": /^.{0,24}$/s,
  long: /^.{800}/s,
  paragraphs: /\n\s*\n/,
} as const;

type Mark = keyof typeof MARKS;

const ROWS = Object.entries(MARKS) as [Mark, RegExp][];

/** Marks are looked for in this much of a text's beginning and end: they cost more a character than words do. */
const HEAD_CHARACTERS = 700;
const TAIL_CHARACTERS = 300;

/** The marks that a clipped text bears, in the table's order. */
export function marksOf(clipped: string): Mark[] {
  const raw =
    clipped.length <= HEAD_CHARACTERS + TAIL_CHARACTERS
      ? clipped
      : `${clipped.slice(0, HEAD_CHARACTERS)}\n${clipped.slice(-TAIL_CHARACTERS)}`;
  return ROWS.filter(([, pattern]) => pattern.test(raw)).map(([mark]) => mark);
}
