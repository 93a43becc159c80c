import { standIn } from "./child.ts";

await standIn("github-app", Number(process.env["GITHUB_APP_PORT"]));
