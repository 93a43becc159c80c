import { standIn } from "./child.ts";

standIn("github-app", Number(process.env["GITHUB_APP_PORT"]));
