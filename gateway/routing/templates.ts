/**
 * Routes that classify by their name alone: an administrator gives the name, a provider and a model, and the gateway
 * brings the examples. What a route of such a name says itself (description, examples, keywords) is added to them.
 */
export const TEMPLATES = {
  coding: "Write, explain, review, convert or debug program code, queries, scripts and shell commands",
  summarization: "Condense a text, a document, a conversation or a transcript into its main points",
  translation: "Translate a text from one human language into another",
  extraction:
    "Pull facts, names, fields or keywords out of a given text, or sort and label texts by category",
  rewriting: "Rephrase, correct, shorten, simplify or polish a given text without changing what it says",
  writing: "Write something new: story, poem, e-mail, letter, essay, article, advertisement, document",
  math: "Solve a calculation, an equation, a proof or a word problem",
  reasoning: "Solve a riddle, a puzzle or a question of logic, step by step",
  planning: "Suggest ideas, recommend things, or make a plan, a schedule or an itinerary",
  roleplay: "Speak as a character, a person or a profession and stay in that part",
  general: "Answer a question, explain something, give advice, talk",
  chat: "Open conversation: small talk, questions, advice",
} as const satisfies Record<string, string>;

export type TemplateName = keyof typeof TEMPLATES;

export const isTemplate = (name: string): name is TemplateName => Object.hasOwn(TEMPLATES, name);
