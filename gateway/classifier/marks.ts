/** Marks of a text's shape. Texts are untrusted, so repetitions in a pattern are bounded or share no characters. */
const MARKS = {
  "code fence": /```|~~~/,
  "code-like line":
    /^[^\S\n\r\u2028\u2029]*(?:(?:def|class|function|public|private|static|const|let|var|async)\s+\w+.*[({:;=][^\S\n]*\S{0,80}$|(?:import|from)\s+[\w.{},*]+(?: +[\w.{},*]+)*\s+(?:import|from)\b|import\s+[\w.]+;?$|return\b[^.\n]*$|(?:if|for|while)\s*\(.+\)|(?:if|for|while)\s[^.]{1,300}:$|#include|<\/?[a-z][^<>]*>|(?:SELECT|INSERT|UPDATE|CREATE)\s.+(?:FROM|INTO|SET|TABLE)\b|[\w.]+\([^()]*\);?$|[}\])]+;$)/m,
  "inline code": /`[^`\n]+`|\w\(\)|[a-z]_[a-z]|\w\.(?:py|js|ts|java|cpp|go|rs|sql|sh|html|css)\b/,
  formula:
    /\d\s*[=+*^×÷]\s*[\da-z(]|\d\s*\/\s*\d|\b[a-z]\s*[=+^]\s*[\da-z(-]|\\(?:frac|sqrt|int|sum)|(?-i:[√∑∫π≤≥])/i,
  address: /https?:\/\/|www\./,
  "many digits": /(?:\d[^\d]{0,12}){8}/,
  "question mark": /[?？¿؟]/,
  "ends with a question": /[?？؟]\s*(?:["'”’)]\s*)?$/,
  "not Latin": /[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/,
  "quoted text": /["“”«»「」„].{12,}["“”«»「」]/s,
  "list of lines":
    /^[^\S\n\r\u2028\u2029]*(?:[-*•]|\d+[.)、])\s+\S.*\n+[^\S\n\r\u2028\u2029]*(?:[-*•]|\d+[.)、])\s+\S/m,
  "choices to pick from": /(?:^|[\s(（])A\s*[.)、:：）][\s\S]{1,300}?(?:^|[\s(（])B\s*[.)、:：）]/m,
  // Three letters are enough: to try every length of a long run of them would take time that grows with its square.
  "two scripts":
    /[a-z]{3}[^a-z]{0,40}[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{3}|[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{3}.{0,20}\b[a-z]{3,}\s+[a-z]/i,
  "very short": /^.{0,24}$/s,
  long: /^.{800}/s,
  paragraphs: /\n\s*\n/,
} as const;

type Mark = keyof typeof MARKS;

const ROWS = Object.entries(MARKS) as [Mark, RegExp][];

/** The marks of a text, in the table's order. They take more time per character than words do: pass a clipped text. */
export const marksOf = (text: string): Mark[] =>
  ROWS.filter(([, pattern]) => pattern.test(text)).map(([mark]) => mark);
