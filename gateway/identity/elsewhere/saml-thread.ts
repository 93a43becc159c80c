// Runs in a Worker: reading XML that anyone can post takes time, and calls must not wait for it.
import { parentPort } from "node:worker_threads";
import { verifiedAnswer } from "./saml-answer.ts";
import type { SamlThreadAnswer, SamlThreadTask } from "./saml-reader.ts";
import { SignInFault } from "./way-in.ts";

parentPort?.on("message", async ({ parties, response, nowMs }: SamlThreadTask) => {
  const answer: SamlThreadAnswer = await verifiedAnswer(parties, response, nowMs).catch((error) => ({
    fault: error instanceof SignInFault ? error.reason : "invalid_answer",
  }));
  parentPort?.postMessage(answer);
});
