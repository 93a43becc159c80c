import type { Command } from "commander";
import { DigestPreview, DigestState } from "#shared/admin/digest.ts";
import { textTable } from "../print/table.ts";
import { adminApi, expectForm } from "../reach/api.ts";
import { tell, URL_OPTION } from "./common.ts";
