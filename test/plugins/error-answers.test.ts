import { expect, test } from "bun:test";
import { ERRORS, GatewayError } from "#gateway/errors.ts";
import { errorAnswer } from "#gateway/plugins/error-answers.ts";
import { keysOf } from "#shared/keys-of.ts";

test("at Bedrock's addresses, only a failure of 500 and more is named as the server's", async () => {
  for (const type of keysOf(ERRORS)) {
    const answer = errorAnswer(new GatewayError(type), new Request("http://gateway/model/chat/converse"));
    const { __type: name } = await answer.json();
    const isServers = ["InternalServerException", "ServiceUnavailableException"].includes(name);
    expect([type, name, isServers]).toEqual([type, name, answer.status >= 500]);
  }
});
