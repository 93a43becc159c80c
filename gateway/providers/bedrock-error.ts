/** Bedrock's exceptions by status; of the others, those below 500 are about the request. */
const ERRORS_BY_STATUS: Readonly<Record<number, string>> = {
  401: "AccessDeniedException",
  402: "ServiceQuotaExceededException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  429: "ThrottlingException",
  503: "ServiceUnavailableException",
  529: "ServiceUnavailableException",
};

/** An error as AWS's SDKs read it. */
export const bedrockError = (status: number, message: string) => ({
  __type: ERRORS_BY_STATUS[status] ?? (status < 500 ? "ValidationException" : "InternalServerException"),
  message,
});
