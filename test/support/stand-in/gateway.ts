import { standIn } from "./child.ts";

standIn("gateway", Number(process.env["PORT"]));
