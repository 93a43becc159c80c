/** A server of tools on standard input, which an agent starts in its home. */
export const SKY = { command: process.execPath, args: ["sky.ts"] };

/** Its program, to be written as `sky.ts`: it has a tool of the weather. */
export const SKY_TOOLS = `
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
const tool = { name: "weather", description: "Tells the weather.", inputSchema: { type: "object", properties: { city: { type: "string" } } } };
for await (const line of console) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "sky", version: "1" } });
  else if (method === "tools/list") answer(id, { tools: [tool] });
  else if (method === "tools/call") answer(id, { content: [{ type: "text", text: "rain over " + params.arguments.city }] });
  else if (id !== undefined) answer(id, {});
}
`;
