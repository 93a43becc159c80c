import { statfsSync } from "node:fs";
import { totalmem } from "node:os";

const MEBIBYTE = 1024 ** 2;

/** A gateway takes up to some 20, and its successor as many beside it. The rest is for the GitHub App and for people. */
const CONNECTIONS = { least: 100, perGateway: 40, others: 20 };

/** The server's settings except its address, for this many gateway processes. */
export function serverFlags(gateways: number): Record<string, string> {
  return {
    max_connections: String(
      Math.max(CONNECTIONS.least, gateways * CONNECTIONS.perGateway + CONNECTIONS.others),
    ),
    shared_buffers: `${sharedBuffersMebibytes(memoryBytes())}MB`,
    max_wal_size: "1GB",
    checkpoint_timeout: "15min",
    wal_compression: "pglz",
    // Replicas for reports can then be added without a restart.
    wal_level: "logical",
    // After a crash the whole server ends and is started afresh (decision: Postgres does not restart itself).
    restart_after_crash: "off",
    // A backend whose client was killed releases its locks.
    client_connection_check_interval: "5s",
    log_timezone: "UTC",
    log_checkpoints: "off",
    // Keeps statements and the values of refused rows out of the log.
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    ...(sharedMemoryIsSmall() ? { dynamic_shared_memory_type: "mmap" } : {}),
  };
}

/** A sixteenth of the memory, from 32 to 512 MiB: the gateway needs the rest, and the system caches files anyway. */
export const sharedBuffersMebibytes = (memory: number): number =>
  Math.min(512, Math.max(32, Math.floor(memory / 16 / MEBIBYTE)));

function memoryBytes(): number {
  const limit = process.constrainedMemory?.() ?? 0;
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Containers often get 64 MiB there, in which parallel queries fail. */
function sharedMemoryIsSmall(): boolean {
  if (process.platform !== "linux") return false;
  try {
    const { blocks, bsize } = statfsSync("/dev/shm");
    return blocks * bsize < 256 * MEBIBYTE;
  } catch {
    return true;
  }
}
