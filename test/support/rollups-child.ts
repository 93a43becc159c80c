// Rolls up a database over and over until it is killed; its address is the argument.
import { openRollups } from "#gateway/stores/reports/rollups.ts";

const rollups = openRollups({ url: process.argv[2] ?? "" });
process.stdout.write("ready\n");
for (;;) await rollups.rebuild(new Date());
