import { standIn } from "./child.ts";

await standIn("gateway", Number(process.env["PORT"]));
