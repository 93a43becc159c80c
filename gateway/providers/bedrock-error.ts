/** Bedrock's exceptions by status; others are its own errors. */
const ERRORS_BY_STATUS: Readonly<Record<number, string>> = {
  400: "ValidationException",
  401: "AccessDeniedException",
  402: "ServiceQuotaExceededException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  413: "ValidationException",
  429: "ThrottlingException",
  503: "ServiceUnavailableException",
  529: "ServiceUnavailableException",
};

/** An error as AWS's SDKs read it. */
export const bedrockError = (status: number, message: string) => ({
  __type: ERRORS_BY_STATUS[status] ?? "InternalServerException",
  message,
});
